"""Hostile articles, questions and answers on every page that shows them, in a real browser.

Nothing of theirs runs, and showing them asks nothing of another origin: not even an attempt
that the policy then stops, for that would be an error on the console, which fails the test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from playwright.sync_api import Dialog, Locator, Page, Request, Response, expect

from articles import indexing
from articles.models import Article
from assistant import gaps
from assistant.models import (
    Answer,
    GapTopic,
    Grounding,
)
from tests.browser.conftest import NewPage
from tests.factories import make_answer, make_article, make_traced_answer
from tests.hostile_markdown import ALL, SCRIPTS
from tests.processes import web_process
from tests.scripted_provider import ScriptedProvider

PASSWORD = "a password of tests"
TITLE = "Single sign-on <img src=x onerror=alert(1)>"
QUESTION = "single sign-on? <script>alert(1)</script><img src=//evil.example onerror=alert(1)>"
POLICY = {
    "default-src": "'none'",
    "script-src": "'self' 'nonce-N'",
    "style-src": "'self' 'nonce-N'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
WATCH = """
globalThis.ran = [];
for (const name of ["alert", "confirm", "prompt", "print", "open"]) {
  globalThis[name] = () => { globalThis.ran.push(name); };
}
"""


def _groups() -> list[str]:
    """All payloads, many to a text; those that may leave a fence open come last in one."""
    inline = [text for text in ALL if not re.search(r"```|~~~", text)]
    fenced = [text for text in ALL if text not in inline]
    texts = ["\n\n".join([*inline[n::4], *fenced[n::4]]) for n in range(4)]
    # What a fence would swallow above stands free here.
    return [*texts, *("\n\n".join(fenced[n::6]) for n in range(6))]


GROUPS = _groups()
STORED = [text.replace("\0", "") for text in GROUPS]
"""As the database takes them."""


@dataclass
class Watch:
    """What went on in a page. `check` fails on anything that hostile content did."""

    page: Page
    site: str
    dialogs: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    policies: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.page.add_init_script(WATCH)
        self.page.on("dialog", self._dialog)
        self.page.on("popup", lambda popup: self.foreign.append(popup.url))
        self.page.context.on("request", self._request)
        self.page.context.on("response", self._response)
        self.page.context.route(lambda url: not self._is_own(url), lambda route: route.abort())

    def check(self) -> None:
        """After a page has shown what it shows."""
        self.page.wait_for_load_state("networkidle")
        for image in self.page.locator("img").all():
            image.scroll_into_view_if_needed()
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        assert self.page.evaluate("globalThis.ran") == []
        assert self.dialogs == []
        assert self.foreign == []
        assert self.page.url.startswith(self.site)
        assert self.page.evaluate(INLINE) == []
        assert self.policies
        for url, policy in self.policies.items():
            named = dict(part.split(" ", 1) for part in policy.split("; "))
            nonce = re.search(r"'nonce-([\w-]{20,})'", policy)
            assert nonce, url
            bare = {name: value.replace(nonce[1], "N") for name, value in named.items()}
            assert bare == POLICY, url

    def open(self, path: str) -> None:
        response = self.page.goto(path)
        assert response
        assert response.status == 200
        self.check()

    def _is_own(self, url: str) -> bool:
        return url.startswith((f"{self.site}/", "data:image/svg+xml", "about:"))

    def _dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not self._is_own(request.url):
            self.foreign.append(request.url)

    def _response(self, response: Response) -> None:
        if response.headers.get("content-type", "").startswith("text/html"):
            self.policies[response.url] = response.headers.get("content-security-policy", "")


INLINE = """[...document.querySelectorAll("*")].flatMap((element) => [
  ...[...element.attributes].filter(({ name }) => /^on|^srcdoc$|^formaction$/.test(name)),
  ...["href", "src", "action", "xlink:href"].map((name) => element.getAttributeNode(name))
    .filter((found) => /^\\s*(javascript|vbscript|data):/i.test(found?.value ?? "")),
].map(({ name, value }) => `${element.tagName} ${name}=${value}`))"""


@pytest.fixture(scope="module")
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def chat_site(collected_assets: None, provider: ScriptedProvider) -> Iterator[str]:
    with web_process(
        OPENAI_BASE_URL=provider.url, OPENAI_API_KEY="key", ASSISTANT_MODEL="scripted"
    ) as url:
        yield url


@pytest.fixture
def articles(transactional_db: None) -> list[Article]:
    """An article for each group. A test's first page of search finds some of them."""
    made = [
        make_article(f"{TITLE} {number}", slug=f"hostile-{number}", body=text, summary=SCRIPTS[1])
        for number, text in enumerate(STORED)
    ]
    for article in made:
        indexing.index_article(article.pk)
    return made


@pytest.fixture
def watch(new_page: NewPage, chat_site: str) -> Watch:
    # Images of this site that are not there answer 404, as they should.
    return Watch(new_page(base_url=chat_site, expected=("404",)), chat_site)


@pytest.fixture
def admin(watch: Watch, staff: User) -> Watch:
    # The site's process knows none of the quick hashes that tests use.
    staff.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1000)
    staff.save()
    watch.page.goto("/admin/")
    watch.page.get_by_label("Username").fill(staff.username)
    watch.page.get_by_label("Password").fill(PASSWORD)
    watch.page.get_by_role("button", name="Log in").click()
    expect(watch.page.get_by_role("heading", name="Site administration")).to_be_visible()
    return watch


def test_articles_and_what_the_search_shows_of_them(watch: Watch, articles: list[Article]) -> None:
    for article in articles:
        watch.open(article.get_absolute_url())
        expect(watch.page.locator("h1")).to_contain_text("<img src=x onerror=alert(1)>")
    watch.open("/categories/")
    for query in ("single sign-on", "script alert", "evil.example", "onerror", *SCRIPTS[::6]):
        watch.open(f"/search/?q={quote(query)}")
    box = watch.page.get_by_role("combobox", name="Search the articles")
    box.fill("single sign")
    expect(watch.page.get_by_role("option").first).to_be_visible()
    watch.check()


@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_the_chat_while_it_writes_when_it_is_done_and_after_a_reload(
    watch: Watch, articles: list[Article], provider: ScriptedProvider, number: int
) -> None:
    page = watch.page
    page.goto("/chat/")
    provider.call("search_articles", {"query": "single sign-on"})
    provider.call("open_article", {"slug": f"hostile-{number}"})
    provider.answer(f"First [1].\n\n{GROUPS[number]}\n\nEnd [1] <img src=x onerror=alert(1)>")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    # The first search of a process loads the model of the embeddings.
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible(timeout=30_000)
    prose = page.locator(".turn .prose").last
    expect(prose).to_contain_text("First")
    watch.check()
    _is_prose(prose)
    streamed = prose.inner_html()

    page.reload()
    expect(page.locator(".turn .prose")).to_contain_text("First")
    watch.check()
    _is_prose(prose)
    assert prose.inner_html() == streamed
    page.get_by_role("button", name="Conversations").click()
    expect(page.get_by_role("dialog").get_by_role("link")).to_have_count(1)
    page.keyboard.press("Escape")

    prose.locator(".citation").first.click()
    panel = page.get_by_role("complementary", name="Article")
    expect(panel.locator("h1, h2").first).to_be_visible()
    watch.check()


def _is_prose(prose: Locator) -> None:
    """What was said is text and Markdown; images come from this site alone."""
    elements = prose.locator("script, style, svg, math, iframe, object, form, input, base, link")
    expect(elements).to_have_count(0)
    hosts = prose.locator("img").evaluate_all("all => all.map(one => new URL(one.src).origin)")
    assert set(hosts) <= {prose.page.evaluate("origin")}


def test_the_admin_shows_articles_as_they_are(admin: Watch, articles: list[Article]) -> None:
    admin.open("/admin/articles/article/")
    for article in articles:
        article.body += "\n\nchanged"
        article.save()
        admin.open(f"/admin/articles/article/{article.pk}/preview/")
        admin.open(f"/admin/articles/article/{article.pk}/change/")
    admin.open(f"/admin/articles/article/{articles[0].pk}/revisions/")


def test_the_admin_shows_answers_as_they_are(admin: Watch, articles: list[Article]) -> None:
    first = _audited(STORED[0], articles[0])
    for text in STORED[1:]:
        make_answer(text[:2000], conversation=first.conversation, text=text, model_text=text)
    admin.open("/admin/assistant/answer/")
    admin.open(f"/admin/assistant/answer/{first.pk}/change/")
    for details in admin.page.locator("details").all():
        details.locator("summary").click()
    admin.check()
    admin.open("/admin/assistant/conversation/")
    admin.open(f"/admin/assistant/conversation/{first.conversation_id}/change/")


def _audited(text: str, article: Article) -> Answer:
    """An answer in whose every recorded field is hostile text."""
    return make_traced_answer(
        QUESTION,
        article,
        text=f"[1] {text}",
        model_text=text,
        heading=SCRIPTS[3],
        passage=text,
        comment=text[:2000],
        dropped=[payload.replace("\0", "") for payload in ALL],
        call={"arguments": text[:500], "result": text},
        document={"consulted": True, "cited": True, "number": 1, "position": 1},
    )


def test_the_queue_of_gaps_shows_questions_as_they_are(admin: Watch) -> None:
    for payload in ALL[::5]:
        make_answer(payload.replace("\0", ""), grounding=Grounding.NO_HITS)
    gaps.update_report()
    admin.open("/admin/assistant/gaptopic/")
    for topic in GapTopic.objects.order_by("-questions_count")[:3]:
        admin.open(f"/admin/assistant/gaptopic/{topic.pk}/change/")


@pytest.mark.parametrize(
    "act",
    [
        "alert(1)",
        "document.body.setAttribute('onclick', 'x')",
        "document.body.insertAdjacentHTML('beforeend', '<a href=javascript:x>x</a>')",
        "fetch('http://evil.example/', {mode: 'no-cors'}).catch(() => 0)",
    ],
)
def test_the_watch_sees_what_it_watches_for(new_page: NewPage, live_site: str, act: str) -> None:
    watch = Watch(new_page(bypass_csp=True, expected=("evil.example", "ERR_FAILED")), live_site)
    watch.open("/")
    watch.page.evaluate(act)
    with pytest.raises(AssertionError):
        watch.check()
