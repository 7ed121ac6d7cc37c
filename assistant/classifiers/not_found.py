"""Whether an answer says, in words, that the articles do not answer the question.

For models that say so instead of calling `cannot_answer`. An answer that says it of a
part, and cites an article for the rest, is an answer. Deterministic; many languages.
"""

from __future__ import annotations

import re

_ARTICLES = (
    r"(?:articles?|documentation|docs|help cent(?:er|re)|knowledge base|guides?|sources?|passages?"
    r"|documents?|pages?|search results?|results|excerpts?)"
)
_DOES_NOT = r"(?:do(?:es)?n't|do(?:es)? not|did not|didn't)(?: (?:seem|appear) to)?(?: \w+ly)?"
_SAY = (
    r"(?:says?|mention|mentions|covers?|contains?|includes?|explains?|describes?|address(?:es)?"
    r"|answers?|provides?|discuss(?:es)?|specif(?:y|ies)|states?|documents?|talk about"
    r"|have (?:any |an? )?(?:information|details|answer|mention))"
)
_I_CANNOT = (
    r"\b(?:I|we)(?:'m| am| was| were)? ?(?:still |also |just )?(?:could not|couldn't|can't|cannot"
    r"|can not|did not|didn't|do not|don't|have not|haven't|unable to|not able to|wasn't able to)"
)
_PHRASES = (
    # English
    rf"{_I_CANNOT} (?:actually )?(?:find|found|locate|see) (?!it (?:in|under) (?:your|the menu))",
    rf"{_I_CANNOT} (?:currently )?have (?:any |enough |specific |an? )?"
    r"(?:information|details|answer|article|documentation|data|knowledge)",
    rf"{_I_CANNOT} (?:answer|help (?:you )?with) (?:this|that|your|the)\b",
    r"\bI (?:don't|do not) know\b",
    rf"\b{_ARTICLES}\b[^.!?]{{0,60}}? {_DOES_NOT} {_SAY}\b",
    rf"\b(?:neither|none)\b[^.!?]{{0,50}}\b{_SAY}\b",
    rf"\bnothing (?:in|from) [^.!?]{{0,30}}{_ARTICLES}",
    r"\bthere(?: is| are| was| were|'s)(?:n't| not)? ?(?:no|any|nothing)\b[^.!?]{0,20}"
    r"\b(?:information|mention|details|documentation|articles?)\b[^.!?]{0,12}"
    r"\b(?:about|on|of|for|how|that|in|regarding|available)\b",
    rf"\b(?:isn't|aren't|is not|are not|not)(?: \w+ly)? (?:covered|documented|mentioned|described"
    rf"|explained|addressed|answered|included|found) (?:in|by|anywhere in) "
    rf"[^.!?]{{0,30}}{_ARTICLES}",
    r"\bno (?:relevant |matching |specific )?(?:articles?|information|results?|documentation)\b"
    r"[^.!?]{0,30}\b(?:found|available|exists?|match(?:ed|es)?|covers?|explains?|answers?)\b",
    # German
    r"\b(?:konnte|kann|konnten)\b[^.!?]{0,60}\b(?:nichts?|kein\w*)\b[^.!?]{0,60}\bfinden\b",
    r"\bhabe\b[^.!?]{0,60}\b(?:nichts?|kein\w*)\b[^.!?]{0,60}\bgefunden\b",
    r"\b(?:artikeln?|hilfe|hilfecenter|hilfe-center|dokumentation)\b[^.!?]{0,60}"
    r"\b(?:nicht|nichts|kein\w*)\b[^.!?]{0,40}"
    r"\b(?:beschrieben|erwähnt|enthalten|behandelt|erklärt|beantwortet|dokumentiert)\b",
    r"\b(?:artikel|dokumentation)\b (?:enthalten|enthält|beschreib\w+|erwähn\w+|erklär\w+"
    r"|beantwort\w+|behand\w+)[^.!?]{0,50}\b(?:nicht|nichts|kein\w*)\b",
    r"\b(?:finde|gibt es)\b[^.!?]{0,20}\bkeine? (?:informationen|angaben|artikel|antwort|hinweise)",
    # French
    r"\bje n'ai (?:malheureusement )?(?:pas|rien|trouvé aucun\w*)\b",
    r"\bje ne (?:trouve|vois|dispose|parviens)\b[^.!?]{0,20}\b(?:pas|rien|aucun\w*|d'aucun\w*)",
    r"\b(?:articles?|documentation|centre d'aide)\b[^.!?]{0,40}\bne (?:mentionn|expliqu|décri|couvr"
    r"|contien|précis|répond|parl|trait|indiqu)\w*[^.!?]{0,12}\b(?:pas|rien|aucun)",
    r"\baucun(?:e)? (?:article|information|résultat|document)\b[^.!?]{0,40}"
    r"\b(?:ne|trouvée?|disponible|sur|concernant)\b",
    # Spanish
    r"\bno (?:he (?:podido )?encontra\w+|encontré|encuentro|pude encontrar|puedo encontrar"
    r"|logré encontrar|dispongo de|tengo información)",
    r"\bno (?:hay|existe)\w* (?:ningun\w* )?(?:información|artículos?|documentación)",
    r"\b(?:artículos?|documentación|centro de ayuda)\b[^.!?]{0,40}\bno (?:se )?(?:mencion|explic"
    r"|describ|cubr|contien|indic|incluy|respond)\w*",
    # Italian
    r"\bnon (?:ho (?:potuto )?trova\w+|sono riuscit\w a trovare|riesco a trovare|trovo"
    r"|posso trovare|dispongo di)",
    r"\bnon (?:ci sono|c'è)(?: alcun\w*)? (?:informazion\w|articol\w|documentazione)",
    r"\b(?:articol[oi]|documentazione|centro assistenza)\b[^.!?]{0,40}\bnon (?:menzion|spieg"
    r"|descriv|copr|conten|indic|rispond|tratt|parl)\w*",
    # Portuguese
    r"\bnão (?:encontrei|consegui encontrar|consigo encontrar|achei|localizei|pude encontrar"
    r"|tenho informaç\w+)",
    r"\bnão (?:há|existem?) (?:nenhum\w* )?(?:informaç\w+|artigos?|documentação)",
    r"\b(?:artigos?|documentação|central de ajuda)\b[^.!?]{0,40}\bnão (?:mencion|explic|descrev"
    r"|cobr|cont[eé]m|inform|respond|indic)\w*",
    # Dutch, Swedish, Danish, Norwegian, Polish, Turkish
    r"\b(?:kan|kon|heb)\b[^.!?]{0,40}\b(?:niet|niets|geen)\b[^.!?]{0,50}\b(?:vinden|gevonden)\b",
    r"\b(?:artikel\w*|documentatie|helpcentrum)\b[^.!?]{0,40}\b(?:niet|geen|niets)\b[^.!?]{0,20}"
    r"\b(?:beschreven|vermeld|genoemd|uitgelegd)\b",
    r"\b(?:hittade|hittar|kunde|kan|fandt|finder|fant|finner)\b[^.!?]{0,20}"
    r"\b(?:inte|inget|ingen|inga|ikke|ingenting)\b[^.!?]{0,40}",
    r"\bnie (?:znalaz\w+|mogę znaleźć|udało mi się znaleźć)",
    r"\b(?:bulamadım|bulamıyorum|bulunamadı)\b",
    # Russian, Ukrainian
    r"\bне (?:наш[её]л|нашла|удалось найти|могу найти|смог найти|смогла найти|знайшов|знайшла"
    r"|вдалося знайти|можу знайти)\b",
    r"\b(?:стать\w+|документаци\w+|справк\w+)\b[^.!?]{0,40}\bне (?:упомина|описа|содерж|объясн"
    r"|указан|отвеча)\w*",
    # Chinese, Japanese, Korean
    r"(?:没有|未能|没能|未|无法|沒有|無法)[^。！？]{0,24}(?:找到|查到|提到|提及|说明|回答)",
    r"(?:没有|未包含)[^。！？]{0,12}(?:信息|文章|内容|资料)",
    r"見つか(?:りません|らなかった)|見つけられません|記載(?:が|は)?(?:ありません|されていません)"
    r"|情報(?:が|は)(?:ありません|見つ)",
    r"찾을 수 없|찾지 못|정보가 없|나와 있지 않",
)
_NOT_FOUND = re.compile("|".join(_PHRASES), re.IGNORECASE)
_CLAUSE_END = re.compile(
    r"(?<=[.!?])\s+|(?<=[。！？])|\n+|;\s|[,—–]? \b(?:but|however|though|although|aber|jedoch|mais"
    r"|pero|sin embargo|ma|però|mas|porém|maar|men|ale|но)\b,? ",
    re.IGNORECASE,
)
_CITES = re.compile(r"\[\d{1,3}\]|\]\(/?\S")
_LOOKING = re.compile(
    r"\bI(?:'ve| have)? (?:also )?(?:looked|read|checked|searched|opened|reviewed|went through)\b"
    r"|\b(?:might|may|could) (?:also )?(?:help|be (?:useful|helpful|relevant|of interest))\b"
    r"|\b(?:closest|nearest|related|similar|instead|contact|see also|have a look|reach out)\b"
    r"|\bich habe\b.*\b(?:gelesen|gesucht|geprüft)\b|\b(?:ähnlich|verwandt|vielleicht hilft)\w*"
    r"|\b(?:j'ai (?:lu|cherché|consulté)|peut-être|connexes?)\b|\bhe (?:leído|buscado|revisado)\b",
    re.IGNORECASE,
)
_LONGEST = 8_000
_LONGEST_CLAUSE = 600
"""Of one without an end, such as a list or a table, the beginning tells."""
_READ_IN_VAIN = re.compile(
    r"\bI(?:'ve| have)? (?:read|opened|checked|looked|searched|reviewed)\b[^.!?]{0,200}"
    rf"\b(?:they|it|both|those|these)(?: \w+)? {_DOES_NOT} {_SAY}",
    re.IGNORECASE,
)
_OPENING = 4
"""Clauses in which an answer says what it is; what comes later is said of a part."""


def says_not_found(answer: str) -> bool:
    """Whether the answer, as a whole, is that nothing was found."""
    text = answer[:_LONGEST].replace("’", "'")
    clauses = [clause for clause in _CLAUSE_END.split(text) if clause.strip()]
    says_so = any(_NOT_FOUND.search(clause[:_LONGEST_CLAUSE]) for clause in clauses[:_OPENING])
    if not says_so and not _READ_IN_VAIN.search(text):
        return False
    return not any(
        _CITES.search(clause) and not _NOT_FOUND.search(clause) and not _LOOKING.search(clause)
        for clause in clauses
    )
