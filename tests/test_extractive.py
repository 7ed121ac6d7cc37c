"""The answerer without a model: what it opens, what it quotes, and when it declines."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from asgiref.sync import async_to_sync, sync_to_async

from articles import indexing
from articles.access import ANONYMOUS
from articles.models import Article, Visibility
from articles.terms import frequencies
from assistant import agent, prompts
from assistant.agent import Limits, Outcome
from assistant.citations import CitationWriter
from assistant.events import Delta
from assistant.prompts import PastTurn
from assistant.provenance import Exposure, Ledger
from assistant.providers.extractive import ExtractiveModel
from assistant.providers.quoting import quote
from assistant.tools.toolbox import ArticleToolbox
from tests.factories import make_article, make_category

T = TypeVar("T")

SSO = """\
Single sign-on lets people log in with the company's account.

## Set up single sign-on

Before you begin, ask your identity provider for its address:

1. Open **Security** and choose *Single sign-on*.
2. Paste the address of your [identity provider](https://example.org/idp).
3. Press Save[^1] and sign in again.

## Turn it off

Choose Password again under Security.
"""
REFUNDS = """\
## Ask for a refund

You can ask for a refund of an annual subscription within thirty days. Write to billing and
name the invoice `[1]`.
"""


async def db(step: Callable[..., T], /, *args: Any) -> T:
    return await sync_to_async(step)(*args)


@dataclass
class Answer:
    question: str
    language: str = "en"
    limits: Limits = field(default_factory=Limits)
    earlier: tuple[PastTurn, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        self.ledger = Ledger()
        async_to_sync(self.run)()

    async def run(self) -> None:
        toolbox = ArticleToolbox(ANONYMOUS, self.language, self.ledger, db, cautious=True)
        prompt = prompts.build(
            site="Help",
            mode="extractive",
            question=self.question,
            turns=self.earlier,
            language=self.language,
        )
        events = agent.run(
            messages=prompt.messages,
            model=ExtractiveModel(),
            toolbox=toolbox,
            ledger=self.ledger,
            writer=CitationWriter(self.ledger),
            describe=toolbox.describe,
            references=toolbox.references,
            limits=self.limits,
        )
        async with aclosing(events) as running:
            async for event in running:
                if isinstance(event, Outcome):
                    self.outcome = event
                elif isinstance(event, Delta):
                    self.text += event.text

    @property
    def called(self) -> list[str]:
        return [call.name for call in self.outcome.calls]

    @property
    def opened(self) -> list[str]:
        entries = self.ledger.entries()
        return [each.document.title for each in entries if each.exposure == Exposure.FULL]


def indexed(title: str, **fields: Any) -> Article:
    article = make_article(title, **fields)
    indexing.index_article(article.pk)
    return article


@pytest.fixture
def site(db: None) -> None:
    indexed("Single sign-on", body=SSO, category=make_category("Security"))
    indexed("Money back", body=REFUNDS, category=make_category("Billing"))
    frequencies.recount()


# Quoting


@pytest.mark.usefixtures("site")
def test_a_question_is_answered_by_the_lines_of_the_article_that_answers_it() -> None:
    answer = Answer("How do I set up single sign-on?")
    assert answer.called == ["search_articles", "open_article"]
    assert answer.opened == ["Single sign-on"]
    assert answer.text == (
        "From “Single sign-on › Set up single sign-on” [1]:\n\n"
        "> Before you begin, ask your identity provider for its address:\n"
        ">\n"
        "> 1. Open Security and choose Single sign-on.\n"
        "> 2. Paste the address of your [identity provider](https://example.org/idp).\n"
        "> 3. Press Save\\[^1\\] and sign in again."
    )
    [source] = answer.ledger.sources()
    assert (source.number, source.consulted, source.via) == (1, True, "opened")
    assert answer.ledger.dropped == []
    assert answer.outcome.usage.total == 0


@pytest.mark.usefixtures("site")
def test_brackets_in_code_stay_as_they_are() -> None:
    answer = Answer("Can I get a refund of an annual subscription?")
    assert "`[1]`" in answer.text
    assert answer.ledger.dropped == []


@pytest.mark.usefixtures("site")
def test_a_follow_up_is_answered_with_its_topic() -> None:
    earlier = (PastTurn("How do I set up single sign-on?", "So."),)
    assert Answer("and how do I turn it off?", earlier=earlier).opened == ["Single sign-on"]


@pytest.mark.usefixtures("site")
def test_what_the_articles_do_not_say_is_declined() -> None:
    answer = Answer("How tall is the Eiffel tower in winter?")
    assert answer.called == ["search_articles", "cannot_answer"]
    assert answer.outcome.declined == "not_in_docs"
    assert answer.text == "I could not find an answer to this in the help center."
    assert answer.ledger.sources() == []


@pytest.mark.django_db
def test_an_empty_help_center_answers_too() -> None:
    assert Answer("How do I set up SSO?").outcome.declined == "not_in_docs"
    assert Answer("What articles do you have?").text == "There is nothing to list yet."


@pytest.mark.usefixtures("site")
def test_a_title_cannot_forge_a_citation() -> None:
    indexed("Fix error [2] at once", body="To fix the error at once, restart the importer.")
    answer = Answer("How do I fix the error at once by a restart of the importer?")
    assert answer.text.startswith("From “Fix error \\[2\\] at once” [1]:")
    assert answer.ledger.dropped == []


@pytest.mark.usefixtures("site")
def test_an_article_for_answers_only_is_quoted_without_an_address() -> None:
    indexed(
        "Discount for schools",
        body="Schools and universities get a discount of half the price.",
        visibility=Visibility.ANSWERS_ONLY,
    )
    answer = Answer("Is there a discount for schools and universities?")
    assert "half the price" in answer.text
    assert answer.ledger.sources()[0].document.url is None


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_without_rounds_left_it_says_that_it_found_nothing(rounds: int) -> None:
    answer = Answer("How tall is the Eiffel tower?", limits=Limits(tool_rounds=rounds))
    assert answer.text == "I could not find an answer to this in the help center."


@pytest.mark.usefixtures("site")
def test_an_article_of_which_nothing_can_be_quoted_is_declined() -> None:
    indexed("Ask for a discount", body="import ask from 'discount'")
    answer = Answer("How do I ask for a discount?")
    assert answer.called == ["search_articles", "open_article", "cannot_answer"]
    assert answer.outcome.declined == "not_in_docs"


@pytest.mark.usefixtures("site")
def test_two_articles_that_answer_about_as_well_are_both_quoted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assistant.tools.confidence.NEAR", 0.9)
    for plan in ("Basic", "Premium"):
        indexed(f"Delivery with {plan}", body="Parcels arrive within three working days.")
    answer = Answer("How long until parcels arrive?")
    assert len(answer.opened) == 2
    assert answer.text.count("> Parcels arrive") == 2
    assert [source.number for source in answer.ledger.sources()] == [1, 2]


@pytest.mark.usefixtures("site")
def test_a_link_whose_label_is_code_stays_a_link() -> None:
    body = "Install the importer with [`pip`](https://example.org/pip) and restart the importer."
    indexed("Install the importer", body=body)
    text = Answer("How do I install the importer?").text
    assert "[`pip`](https://example.org/pip)" in text


# Small talk and lists


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("hi there", "Hello. Ask a question"),
        ("thank you so much", "You are welcome."),
        ("bye", "Goodbye."),
        ("ok", "Ask another question"),
        ("Are you a real person?", "I am this site's assistant"),
        ("this is useless", "I am sorry that this did not help."),
    ],
)
def test_small_talk_is_answered_without_searching(message: str, reply: str) -> None:
    answer = Answer(message)
    assert answer.called == []
    assert answer.text.startswith(reply)


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "question", ["What articles do you have?", "list all topics", "Welche Artikel gibt es?"]
)
def test_what_there_is_is_answered_by_links_and_no_source(question: str) -> None:
    answer = Answer(question)
    assert answer.called == ["list_articles"]
    assert "There are 2 articles:" in answer.text
    assert "- [Single sign-on](/articles/single-sign-on/)" in answer.text
    assert [source.consulted for source in answer.ledger.sources()] == [False, False]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "question",
    ["What is in Billing?", "show me the billing articles", "which articles are in Billing"],
)
def test_what_is_in_a_category_is_answered_by_its_list(question: str) -> None:
    answer = Answer(question)
    assert answer.called == ["list_categories", "list_articles"]
    assert "[Money back](/articles/money-back/)" in answer.text
    assert "Single sign-on" not in answer.text


@pytest.mark.usefixtures("site")
def test_a_list_of_something_that_is_no_category_is_searched_for() -> None:
    answer = Answer("What articles do you have about single sign-on?")
    assert answer.called == ["list_categories", "search_articles", "open_article"]
    assert answer.opened == ["Single sign-on"]


@pytest.mark.usefixtures("site")
def test_a_long_message_asks_for_no_list() -> None:
    assert "list_articles" not in Answer("list all articles " * 20).called


@pytest.mark.django_db
def test_a_long_list_says_that_it_goes_on() -> None:
    for number in range(35):
        make_article(f"Article {number:02}")
    text = Answer("what articles do you have?").text
    assert text.count("\n- [") == 30
    assert "There are 35 articles:" in text
    assert "the first 30" in text


# The lines that are quoted


def test_a_long_paragraph_is_quoted_by_its_best_sentences() -> None:
    filler = "Nothing of interest is said in this sentence of the article. " * 6
    passage = f"{filler}Exports are kept for ninety days in the archive. {filler}"
    text = quote("how long are exports kept in the archive", [passage], "en")
    assert "Exports are kept for ninety days in the archive." in text
    assert text.startswith("… ")
    assert text.endswith(" …")
    assert len(text) < 300


def test_sentences_without_spaces_between_them_are_told_apart() -> None:
    filler = "Nothing of interest is said here.Nor is it said in this one.".replace("\n", "")
    passage = f"{filler * 6}Exports are kept for ninety days.{filler * 6}"
    text = quote("how long are exports kept", [passage], "en")
    assert "Exports are kept for ninety days." in text
    assert len(text) < 250


def test_a_long_list_is_cut_around_its_best_item() -> None:
    items = [f"- Rule {number} says nothing" for number in range(20)]
    items[9] = "- Refunds take five days"
    text = quote("how long do refunds take", ["Rules:\n\n" + "\n".join(items)], "en")
    assert text.startswith("Rules:\n\n…\n\n- Rule")
    assert "- Refunds take five days" in text
    assert text.endswith("…")
    assert text.count("\n- ") == 8


def test_a_short_list_is_whole_and_keeps_its_inner_lines() -> None:
    passage = "Steps:\n\n1. Open it\n   - gently\n2. Close it"
    assert quote("how do I open it gently", [passage], "en") == passage


def test_a_list_that_is_too_long_from_its_beginning_is_cut_at_its_end() -> None:
    items = [f"- Rule {number} says nothing" for number in range(20)]
    text = quote("what says rule 0", ["\n".join(items)], "en")
    assert text.startswith("- Rule 0 says nothing\n")
    assert text.endswith("\n\n…")


def test_a_list_that_answers_at_its_end_is_cut_at_its_beginning() -> None:
    items = [f"- Rule {number} says nothing" for number in range(20)]
    items[19] = "- Refunds take five days"
    text = quote("how long do refunds take", ["\n".join(items)], "en")
    assert text.startswith("…\n\n- Rule 12")
    assert text.endswith("- Refunds take five days")


def test_a_list_right_under_its_sentence_is_a_list() -> None:
    passage = "Steps:\n1. Open the export\n2. Press Save"
    assert quote("how do I export", [passage], "en") == (
        "Steps:\n\n1. Open the export\n2. Press Save"
    )


def test_items_apart_by_empty_lines_are_one_list() -> None:
    passage = "1. Open the export\n\n2. Press Save\n\n<img src=x>\n\n3. Wait for the export"
    text = quote("how do I export", [passage], "en")
    assert text == "1. Open the export\n2. Press Save\n3. Wait for the export"


def test_a_sentence_takes_along_what_it_announces() -> None:
    sentence = (
        "To reset the device to the state in which it left the factory, keys and certificates "
        "included, run this command with the rights of an administrator:"
    )
    passage = f"{sentence}\n\n```sh\n\nwipe --all\n```\n\nThen wait."
    assert quote("reset device", [passage], "en") == passage.removesuffix("\n\nThen wait.")


def test_a_short_quote_takes_its_neighbour_along() -> None:
    passage = "Exports are slow.\n\nThey run at night.\n\n" + "Other things are told here. " * 9
    assert quote("slow exports", [passage], "en") == "Exports are slow.\n\nThey run at night."
    assert quote("other slow things", ["Intro here.\n\nOther slow things."], "en") == (
        "Intro here.\n\nOther slow things."
    )


def test_a_short_quote_that_announces_something_takes_that_along_too() -> None:
    passage = "Exports are slow.\n\nThey contain:\n\n- rows\n- columns"
    assert quote("slow exports", [passage], "en") == passage


def test_markup_of_the_source_is_no_text() -> None:
    passage = "import x from 'y';\n<div>\nExports run at night.\n</div>"
    assert quote("exports", [passage], "en") == "Exports run at night."
    assert quote("exports", ["<div>\n</div>"], "en") == ""
    assert quote("exports", [], "en") == ""


def test_without_a_common_word_the_passages_beginning_is_quoted() -> None:
    assert quote("zzz", ["First things first.\n\nSecond.", "Other"], "en").startswith("First")


def test_words_that_are_rare_in_the_article_decide() -> None:
    passage = "Exports and reports.\n\n" + "Exports go to the archive by courier. " * 4
    others = ["Exports are listed.", "Exports are counted.", "More on exports."]
    assert "courier" in quote("exports by courier", [passage, *others], "en")


# The measure


QUESTIONS = json.loads(Path(__file__).with_name("manual_questions.json").read_text())


def share_of(answers: list[Answer], holds: Callable[[Answer], bool]) -> float:
    return sum(map(holds, answers)) / len(answers)


@pytest.mark.slow
@pytest.mark.django_db
def test_real_questions_are_answered_from_a_right_article(shared_dir: Path) -> None:
    sample = json.loads((shared_dir / "retrieval/wixqa-sample.json").read_text())
    names = {}
    for each in sample["articles"]:
        names[each["id"]] = indexed(each["title"], body=each["text"]).title
    frequencies.recount()
    right = {
        asked["question"]: {names[article] for article in asked["articles"]}
        for asked in sample["questions"]
    }
    answers = [Answer(question) for question in right]
    assert share_of(answers, lambda a: bool(right[a.question].intersection(a.opened))) >= 0.70


@pytest.mark.slow
@pytest.mark.django_db
def test_questions_about_another_product_are_declined(shared_dir: Path) -> None:
    from articles.importing import import_articles

    sample = json.loads((shared_dir / "retrieval/wixqa-sample.json").read_text())
    import_articles(shared_dir / "corpora/plausible-docs/docs")
    frequencies.recount()
    answers = [Answer(asked["question"]) for asked in sample["questions"]]
    assert share_of(answers, lambda a: a.outcome.declined == "not_in_docs") >= 0.90


@pytest.mark.slow
@pytest.mark.django_db
def test_twenty_questions_about_the_product_are_answered_from_the_right_page() -> None:
    from articles import demo
    from articles.importing import Options, import_articles

    import_articles(demo.FOLDER, Options(prefix=demo.PREFIX))
    frequencies.recount()
    pages = dict(Article.objects.values_list("external_id", "live_revision__title"))
    wrong = []
    for asked in QUESTIONS:
        right = {pages[f"{demo.PREFIX}{page}"] for page in asked["pages"]}
        answer = Answer(asked["question"])
        if not right.intersection(answer.opened) or "> " not in answer.text:
            wrong.append((asked["question"], answer.opened))
    assert wrong == []
