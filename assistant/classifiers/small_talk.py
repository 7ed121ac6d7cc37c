"""Small talk in many languages: whether a message greets, thanks, agrees, says goodbye.

Deterministic and cautious: every word has to belong to a phrase below. When in doubt a
message is a question, because calling it small talk would hide it from the writers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

Kind = Literal["greeting", "thanks", "closing", "nod"]

_GREETINGS = """
hi|hii|hey|heya|hello|helo|hallo
hiya|yo|howdy|greetings|good morning|good afternoon|good evening
good day|morning|how are you|how are you doing|how is it going|hows it going|whats up|sup
nice to meet you|guten morgen|guten tag|guten abend|gruss gott|gruezi|servus|moin|moin moin
wie geht es dir|wie geht es ihnen|wie gehts|bonjour|bonsoir|salut|coucou|ca va|comment ca va
comment allez vous|hola|buenos dias|buenas tardes|buenas noches|buenas|que tal|como estas
ciao|buongiorno|buonasera|salve|come stai|come va
ola|oi|bom dia|boa tarde|boa noite|tudo bem
hoi|goedemorgen|goedemiddag|goedenavond|goedendag|hej
hejsan|god morgon|god dag|hei|terve|moi
czesc|dzien dobry|dobry wieczor|ahoj|dobry den|merhaba|selam|gunaydin|iyi gunler|nasilsin
привет|здравствуйте|здравствуй|добрый день
доброе утро|добрый вечер|как дела|привіт|добрий день
γεια|γεια σας|καλημερα|שלום|مرحبا|السلام عليكم
صباح الخير|नमस्ते|नमस्कार|สวัสดี|xin chao|halo
selamat pagi|selamat siang|你好|您好|大家好|早上好|早安
晚上好|下午好|嗨|哈喽|在吗|你好吗|こんにちは|こんばんは
おはよう|おはようございます|はじめまして|안녕|안녕하세요
"""
_THANKS = """
thanks|thank you|thankyou|thx|ty|tysm|cheers|ta|much appreciated|appreciated|i appreciate it
appreciate it|many thanks|thanks a lot
thanks a million|thank you very much|thank you so much
that helped|that helps|that was helpful|very helpful
that worked|it worked|it works now|it works
works now|that works|problem solved|solved
danke|danke schon|danke dir|danke sehr|vielen dank
besten dank|herzlichen dank|tausend dank|merci
merci beaucoup|merci bien|mille mercis|gracias
muchas gracias|mil gracias|muchisimas gracias|grazie
grazie mille|molte grazie|obrigado|obrigada
muito obrigado|muito obrigada|valeu|dank je
dank je wel|dank u|dank u wel|bedankt|hartelijk dank
tack|tack sa mycket|takk|tak|kiitos|dzieki|dziekuje|dziekuje bardzo|dekuji|tesekkurler
tesekkur ederim|спасибо|большое спасибо|спасибо большое|благодарю|дякую|ευχαριστω|תודה
תודה רבה|شكرا|شكرا جزيلا|धन्यवाद|शुक्रिया|ขอบคุณ|cam on
terima kasih|谢谢|多谢|感谢|谢谢你|谢谢您|非常感谢|謝謝
ありがとう|ありがとうございます|どうも|감사합니다|고마워|고마워요|고맙습니다
"""
_CLOSINGS = """
bye|bye bye|goodbye|good bye|see you
see ya|see you later|later|take care|good night|have a nice day
have a good day|have a great day|have a good one|have a nice weekend|thats all|that is all
that will be all|nothing else|no more questions|tschuss|auf wiedersehen|bis bald|bis spater
schonen tag|schonen tag noch|au revoir|a bientot|bonne journee|a plus|adios|hasta luego
hasta pronto|chao|arrivederci|a presto|buona giornata|tchau|ate logo|ate mais|tot ziens|doei
dag|hej da|ha det|do widzenia|на свидание|до свидания
пока|до побачення|再见|拜拜|さようなら|またね|안녕히 계세요
안녕히 가세요
"""
_NODS = """
ok|okay|k|kk|okey|alright|all right|sure
fine|great|perfect|cool|nice|awesome|excellent|super|good
got it|i see|understood|makes sense|yes|yep|yeah
yup|no|nope|no thanks|no thank you|lol|haha|wow
gut|alles klar|prima|verstanden|ja|nein|genau
d accord|daccord|parfait|genial|oui|non|vale|claro
perfecto|si|entendido|va bene|perfetto|certo|capito
ta bom|certo|sim|nao|perfeito|entendi|prima
goed|nee|oke|bra|nej|dobrze|tak|nie|хорошо|понятно|понял
поняла|да|нет|ясно|好|好的|明白|知道了|是|是的|嗯|はい
いいえ|わかりました|了解|네|아니요|알겠습니다
"""
_FILLERS = """
there|all|everyone|everybody|folks|team|guys|friend
mate|buddy|bot|assistant|support|sir|madam|maam
dear|so much|very much|a lot|again|now
then|too|you|for your help|for the help|for that|for this
for your time|for everything|for now|your help|and|oh
ah|um|well|just|really|to you|in advance
noch|sehr|dir|ihnen|euch|und
zusammen|fur die hilfe|fur ihre hilfe|a tous|a vous|et|pour ton aide
pour votre aide|a todos|y|por la ayuda|por tu ayuda
a tutti|e|per l aiuto|pela ajuda|allemaal|en
och|i|и|всем|за помощь|了|啊|呀|哦|ね|です|ました|ます|요
"""

_WORD = re.compile(r"[^\W_]+")
_SPACELESS = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LONGEST_SMALL_TALK = 80
_LONGEST_PHRASE = 6


def words_of(text: str) -> list[str]:
    """The words in lower case, without accents and apostrophes: "What's" gives "whats"."""
    return _WORD.findall(_fold(text))


def _fold(text: str) -> str:
    """Lower case without accents and apostrophes: "What's" and "whats" are the same."""
    text = unicodedata.normalize("NFKD", text.casefold().replace("'", "").replace("’", ""))
    return unicodedata.normalize("NFC", "".join(c for c in text if not unicodedata.combining(c)))


def _phrases(*lists: str) -> frozenset[str]:
    lines = "\n".join(lists).strip().splitlines()
    return frozenset(" ".join(words_of(phrase)) for line in lines for phrase in line.split("|"))


_KINDS: dict[Kind, frozenset[str]] = {
    "thanks": _phrases(_THANKS),
    "closing": _phrases(_CLOSINGS),
    "greeting": _phrases(_GREETINGS),
    "nod": _phrases(_NODS),
}
_TALK = frozenset[str]().union(*_KINDS.values())
_AROUND = _phrases(_FILLERS)
_SPACELESS_TALK = sorted(
    (phrase for phrase in _TALK | _AROUND if _SPACELESS.search(phrase)), key=len, reverse=True
)


def small_talk_kind(message: str) -> Kind | None:
    """What kind of small talk a message is, by its longest phrase; None for a question."""
    if not is_small_talk(message):
        return None
    words = f" {' '.join(words_of(message))} "
    lengths: dict[Kind, int] = {
        kind: max((len(phrase) for phrase in phrases if _holds(words, phrase)), default=0)
        for kind, phrases in _KINDS.items()
    }
    kind = max(lengths, key=lambda kind: lengths[kind])
    return kind if lengths[kind] else "nod"


def _holds(words: str, phrase: str) -> bool:
    return f" {phrase} " in words or (_SPACELESS.search(phrase) is not None and phrase in words)


def is_small_talk(message: str) -> bool:
    """Whether a message only greets, thanks, agrees or says goodbye; nothing is asked."""
    if len(message) > _LONGEST_SMALL_TALK:
        return False
    folded = _fold(message)
    words = _WORD.findall(_without_spaceless_talk(folded))
    position, talks = 0, len(words) < len(_WORD.findall(folded)) or not words
    while position < len(words):
        length = _length_of_phrase(words, position)
        if not length:
            return False
        talks = talks or " ".join(words[position : position + length]) in _TALK
        position += length
    return talks


def _length_of_phrase(words: Sequence[str], start: int) -> int:
    for length in range(min(_LONGEST_PHRASE, len(words) - start), 0, -1):
        phrase = " ".join(words[start : start + length])
        if phrase in _TALK or phrase in _AROUND:
            return length
    return 0


def _without_spaceless_talk(text: str) -> str:
    """Scripts that write no spaces have no words to compare: their phrases are cut out."""
    if not _SPACELESS.search(text):
        return text
    for phrase in _SPACELESS_TALK:
        text = text.replace(phrase, " ")
    return text
