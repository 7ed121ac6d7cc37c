"""The verdict on an answer, and what it reads out of words: small talk, and "not found"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from assistant.classifiers.not_found import says_not_found
from assistant.classifiers.small_talk import is_small_talk, small_talk_kind
from assistant.grounding import GAPS, Facts, may_be_outside, verdict
from assistant.models import Grounding

QUESTION = Facts(question="How do I set up SSO?", text="Open Security [1].")
SEARCHED = replace(QUESTION, searched=True)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(replace(SEARCHED, opened=1), Grounding.GROUNDED, id="opened"),
        pytest.param(replace(SEARCHED, excerpts=3, cited=True), Grounding.GROUNDED, id="cited"),
        pytest.param(replace(QUESTION, cited=True), Grounding.GROUNDED, id="carried and cited"),
        pytest.param(replace(SEARCHED, excerpts=3), Grounding.UNCITED, id="cites nothing"),
        pytest.param(replace(SEARCHED, excerpts=1), Grounding.UNCITED, id="cites not the one"),
        pytest.param(replace(QUESTION, linked_titles=1), Grounding.LISTING, id="lists one"),
        pytest.param(replace(QUESTION, linked_titles=30), Grounding.LISTING, id="listing"),
        pytest.param(SEARCHED, Grounding.NO_HITS, id="nothing found"),
        pytest.param(QUESTION, Grounding.UNSEARCHED, id="never searched"),
        pytest.param(
            replace(SEARCHED, opened=2, declined="not_in_docs"),
            Grounding.REJECTED,
            id="declined after opening two",
        ),
        pytest.param(
            replace(SEARCHED, opened=2, text="Neither article says how to do that."),
            Grounding.REJECTED,
            id="declined in words after opening two",
        ),
        pytest.param(
            replace(QUESTION, text="I could not find that in the help center."),
            Grounding.REJECTED,
            id="declined in words without searching",
        ),
        pytest.param(
            replace(QUESTION, declined="unclear_question"), Grounding.UNCLEAR, id="asked back"
        ),
        pytest.param(
            replace(SEARCHED, excerpts=2, declined="out_of_scope"),
            Grounding.OUT_OF_SCOPE,
            id="out of scope, the model says",
        ),
        pytest.param(
            replace(SEARCHED, outside=True), Grounding.OUT_OF_SCOPE, id="out of scope, far away"
        ),
        pytest.param(
            replace(SEARCHED, outside=True, declined="not_in_docs"),
            Grounding.OUT_OF_SCOPE,
            id="far away outweighs that the articles do not say it",
        ),
        pytest.param(
            replace(QUESTION, outside=True), Grounding.OUT_OF_SCOPE, id="far away, never searched"
        ),
        pytest.param(
            replace(SEARCHED, outside=True, opened=1), Grounding.GROUNDED, id="far, but opened"
        ),
        pytest.param(
            replace(SEARCHED, outside=True, cited=True), Grounding.GROUNDED, id="far, but carried"
        ),
        pytest.param(
            replace(SEARCHED, opened=1, failed=True), Grounding.UNAVAILABLE, id="failed or stopped"
        ),
        pytest.param(
            replace(QUESTION, search_failed=True), Grounding.UNAVAILABLE, id="search was down"
        ),
        pytest.param(
            replace(SEARCHED, opened=1, text=" \n"), Grounding.UNAVAILABLE, id="wrote nothing"
        ),
        pytest.param(
            replace(SEARCHED, text=""), Grounding.NO_HITS, id="found nothing and wrote nothing"
        ),
        pytest.param(
            replace(SEARCHED, failed=True, declined="not_in_docs"),
            Grounding.UNAVAILABLE,
            id="a failure outweighs everything",
        ),
    ],
)
def test_the_first_rule_that_matches_wins(facts: Facts, expected: Grounding) -> None:
    assert verdict(facts) == expected


@pytest.mark.parametrize(
    "facts",
    [
        Facts(question="hi there", text="Hello. How can I help?"),
        Facts(question="hi there", text="Hello. How can I help?", searched=True, excerpts=3),
        Facts(question="hello", text="Hello.", searched=True),
        Facts(question="ok thanks", text="I don't know what else to say.", searched=True),
        Facts(question="hello", text="Nothing found.", searched=True, declined="not_in_docs"),
        Facts(question="who are you?", text="An assistant.", outside=True),
    ],
)
def test_a_greeting_is_no_gap_whatever_was_searched_for_it(facts: Facts) -> None:
    assert verdict(facts) == Grounding.SMALLTALK


# The table of the manual, row by row, each rule read from it alone and not from the code.


def used(facts: Facts) -> bool:
    return bool(facts.opened or facts.excerpts or facts.cited or facts.linked_titles)


def asked(facts: Facts) -> bool:
    return facts.question != "hello"


def said_so(facts: Facts) -> bool:
    return facts.declined == "not_in_docs" or facts.text == "I could not find that."


def given(facts: Facts) -> bool:
    return bool(facts.opened or facts.excerpts)


TABLE: list[tuple[Grounding, Callable[[Facts], bool]]] = [
    (Grounding.UNAVAILABLE, lambda f: f.failed or f.search_failed),
    (
        Grounding.UNAVAILABLE,
        lambda f: not f.text and not (asked(f) and f.searched and not given(f)),
    ),
    (
        Grounding.OUT_OF_SCOPE,
        lambda f: f.declined == "out_of_scope" or (f.outside and asked(f) and not used(f)),
    ),
    (Grounding.UNCLEAR, lambda f: f.declined == "unclear_question"),
    (Grounding.REJECTED, lambda f: asked(f) and said_so(f)),
    (Grounding.GROUNDED, lambda f: f.opened > 0 or f.cited),
    (Grounding.UNCITED, lambda f: asked(f) and f.excerpts > 0),
    (Grounding.LISTING, lambda f: f.linked_titles > 0),
    (Grounding.NO_HITS, lambda f: asked(f) and f.searched),
    (Grounding.SMALLTALK, lambda f: not asked(f)),
    (Grounding.UNSEARCHED, lambda f: True),
]

VALUES: dict[str, tuple[Any, ...]] = {
    "question": ("hello", "How do I set up SSO?"),
    "text": ("Open Security.", "I could not find that.", ""),
    "failed": (False, True),
    "search_failed": (False, True),
    "declined": ("", "not_in_docs", "unclear_question", "out_of_scope"),
    "searched": (False, True),
    "opened": (0, 2),
    "excerpts": (0, 3),
    "cited": (False, True),
    "linked_titles": (0, 1),
    "outside": (False, True),
}
COMBINATIONS = [
    Facts(**dict(zip(VALUES, values, strict=True))) for values in product(*VALUES.values())
]


def test_of_all_combinations_of_facts_exactly_the_first_row_that_holds_decides() -> None:
    reached = set()
    for facts in COMBINATIONS:
        row = next(place for place, (_, holds) in enumerate(TABLE) if holds(facts))
        assert verdict(facts) == TABLE[row][0], facts
        reached.add(row)
    assert reached == set(range(len(TABLE))), "every row decides somewhere"


def test_an_outage_or_a_greeting_shows_no_gap_whatever_else_is_true() -> None:
    for facts in COMBINATIONS:
        if facts.failed or facts.search_failed or not asked(facts):
            assert verdict(facts) not in (*GAPS, Grounding.UNCITED), facts


def test_a_degraded_search_shows_no_gap_and_changes_nothing_else() -> None:
    for facts in COMBINATIONS:
        whole, degraded = verdict(facts), verdict(replace(facts, degraded=True))
        assert degraded == (Grounding.UNAVAILABLE if whole in GAPS else whole), facts


def test_what_a_question_is_about_is_measured_wherever_it_may_decide() -> None:
    for facts in COMBINATIONS:
        near, far = replace(facts, outside=False), replace(facts, outside=True)
        assert may_be_outside(facts) or verdict(near) == verdict(far), facts


def test_what_failed_says_nothing_of_its_question() -> None:
    assert may_be_outside(QUESTION)
    assert not may_be_outside(replace(QUESTION, failed=True))
    assert not may_be_outside(replace(QUESTION, search_failed=True))


SMALL_TALK = {
    "greeting": """
        hello
        Hi!
        hey there
        Good morning team
        How are you?
        Hallo zusammen
        Guten Morgen!
        Bonjour à tous
        ¡Buenos días!
        Ciao
        Olá, tudo bem?
        Goedemiddag
        Hej hej
        Cześć
        Привет!
        Здравствуйте
        你好
        こんにちは
        안녕하세요
        مرحبا
        שלום
        नमस्ते
        xin chào
    """,
    "thanks": """
        thanks
        Thank you so much!
        ok, thanks a lot
        Great, that worked 🎉
        Perfect, thank you for your help
        Vielen Dank
        Danke schön!
        Merci beaucoup pour votre aide
        Muchas gracias
        Grazie mille
        Muito obrigada!
        Dank je wel
        Tack så mycket
        Dziękuję bardzo
        Спасибо большое!
        谢谢你
        ありがとうございます
        감사합니다
        شكرا
        teşekkür ederim
    """,
    "closing": """
        bye
        Goodbye, have a nice day
        That's all
        Tschüss
        Auf Wiedersehen
        Au revoir
        Hasta luego
        Arrivederci
        До свидания
        再见
        さようなら
    """,
    "nod": """
        ok
        Got it
        yes
        d'accord
        vale
        alles klar
        понятно
        好的
        はい
        👍
        ???
        hahaha
        okaaay
    """,
    "assistant": """
        Hi, who are you?
        Bist du ein Mensch?
        Tu es un robot ?
        ¿Cómo te llamas?
        Ты кто?
        你是机器人吗？
        คุณชื่ออะไร
    """,
    "complaint": """
        you are so useless
        Das hat nicht geholfen
        c'est nul
        no sirve para nada
        垃圾
        役に立たない
    """,
}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (kind, line.strip())
        for kind, block in SMALL_TALK.items()
        for line in block.strip().splitlines()
    ],
)
def test_small_talk_is_known_in_many_languages(kind: str, message: str) -> None:
    assert small_talk_kind(message) == kind


@pytest.mark.parametrize(
    "message",
    [
        "hi, how do I reset my password",
        "Hello, is anyone there from billing?",
        "thanks, but how do I undo it?",
        "thank you for your help resetting my password",
        "support",
        "help",
        "cancel",
        "good afternoon, my invoice is wrong",
        "ok so where is the export button",
        "yes but which plan",
        "Hallo, wie ändere ich mein Passwort?",
        "Bonjour, où est ma facture ?",
        "Gracias, ¿y cómo lo borro?",
        "你好，怎么重置密码？",
        "こんにちは、パスワードを忘れました",
        "Привет, как удалить аккаунт?",
        "hello " * 40,
        "error 42",
        "all sites",
        "no funcionó",
        "não funcionou",
        "non ho capito",
        "不行",
        "ไม่ได้",
        "it doesn't work",
        "let me talk to a real person",
        "who are you sending my data to?",
        "what are you charging me for",
        "what can you do",
    ],
)
def test_a_question_is_never_small_talk(message: str) -> None:
    assert not is_small_talk(message)
    assert small_talk_kind(message) is None


REJECTIONS = """
    I could not find that in the help center.
    I'm sorry, I couldn't find any article that explains scheduled exports.
    Sorry, but I wasn't able to find information on refunds for annual plans.
    The help articles don't mention an Android app.
    The documentation does not currently cover self-hosting.
    There's no information on this in our knowledge base.
    There is no article about changing the currency.
    This isn't documented in the articles I have.
    I have searched the help center, but I did not find anything about webhooks.
    I opened [Exports](/articles/exports/)[1] and [Reports](/articles/reports/)[2]. None of them \
describes how to schedule an export.
    I read Exports [1] and Reports [2], but they don't explain schedules.
    Unfortunately I don't have any details about that.
    I cannot answer this from the articles.
    Nothing in the documentation covers it. See also [Exports](/articles/exports/)[1].
    No relevant articles were found.
    The search results don't include anything about Okta. You could contact support.
    Dazu konnte ich im Hilfecenter leider nichts finden.
    Ich habe in den Artikeln keine Antwort auf Ihre Frage gefunden.
    Das ist in den Artikeln nicht beschrieben.
    Leider gibt es dazu keine Informationen.
    Désolé, je n'ai rien trouvé à ce sujet.
    Les articles ne décrivent pas cette fonction.
    Je ne trouve aucun article sur ce sujet.
    Lo siento, no he podido encontrar esa información.
    No hay información sobre reembolsos en el centro de ayuda.
    La documentación no explica cómo hacerlo.
    Mi dispiace, non ho trovato nulla al riguardo.
    Non ci sono articoli su questo argomento.
    Desculpe, não encontrei essa informação.
    Não há informações sobre isso.
    Ik heb hierover niets gevonden in het helpcentrum.
    Tyvärr hittade jag ingen artikel om detta.
    Nie udało mi się znaleźć odpowiedzi.
    К сожалению, я не нашла статьи об этом.
    В документации это не описано.
    抱歉，我没有在帮助中心找到相关文章。
    申し訳ありませんが、その情報は見つかりませんでした。
    죄송하지만 관련 문서를 찾지 못했습니다.
    Bununla ilgili bir makale bulamadım.
"""

ANSWERS = """
    Open Settings, then Export [1].
    If you can't find the Export button, ask an administrator for the right [1].
    When you do not see your site in the list, reload the page [2].
    You cannot find deleted sites any more after 30 days [1].
    We could be clearer here: the export has no column for tags [1].
    Free plans do not include exports [1].
    There is no limit on the number of sites [1].
    No data is lost when you change your plan [1].
    The export does not contain deleted rows [1].
    Articles do not have to be published at once; save a draft first [1].
    I could not find a scheduled export, but you can export by hand: open Reports and press \
Export [1].
    The articles don't mention Okta by name, however any SAML provider works: open Security [1].
    Open Reports [1]. Press Export [1]. Choose CSV [1]. Wait for the mail [1]. I could not find \
whether it can be scheduled.
    Which of your sites do you mean?
    Hello. How can I help?
    Wenn Sie den Knopf nicht sehen, laden Sie die Seite neu [1].
    Si vous ne voyez pas le menu, rechargez la page [1].
    Si no ve el botón, recargue la página [1].
    Se non vedi il pulsante, ricarica la pagina [1].
    如果看不到按钮，请刷新页面 [1]。
    The page that says "not found" was deleted [1].
    Nothing happens to your data when you cancel [1].
"""


def lines(block: str) -> list[str]:
    return [line.strip() for line in block.strip().splitlines()]


@pytest.mark.parametrize("answer", lines(REJECTIONS))
def test_an_answer_that_nothing_was_found_is_known_by_its_words(answer: str) -> None:
    assert says_not_found(answer)


@pytest.mark.parametrize("answer", lines(ANSWERS))
def test_an_answer_from_an_article_is_no_rejection(answer: str) -> None:
    assert not says_not_found(answer)


def test_typographic_apostrophes_make_no_difference() -> None:
    assert says_not_found("I couldn’t find that.")


def test_hostile_answers_are_read_in_no_time() -> None:
    for text in ("I could not " * 20_000, "articles " * 20_000, "no " * 50_000, "[1]" * 50_000):
        says_not_found(text)
