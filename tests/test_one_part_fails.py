"""One part fails, and only that part fails: Valkey, PostgreSQL, the embeddings, the model's
provider and the worker, each stopped, frozen and slow, while people read, search and ask.

A web process, a worker and their servers are real; between them are wires that a test can cut.
What providers do wrong in detail is in `test_provider_faults`, what a turn does without Valkey in
`test_chat_without_valkey`, how a dead process is replaced in `test_supervision`.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, Self, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

import httpx2
import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import caches
from django.db import connection, transaction
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin

from articles.models import Article, Passage
from assistant import tasks
from assistant.gaps import progress
from assistant.models import Answer
from helpcenter import tokens
from helpcenter.celery import app
from helpcenter.postgres.base import POOL_SECONDS
from helpcenter.processes import Child
from tests.factories import make_article
from tests.failing_servers import Fault, ModelEndpoint, Wire
from tests.processes import wait_until, web_process, worker_process
from tests.search_index import make_indexed
from tests.streams import Event, parsed_sse, verified

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.django_db(transaction=True)]

TOLD_SECONDS = 2.0
RECOVERED_SECONDS = 15.0
"""Ten are promised, and seven are measured where a provider was frozen. The machine that tests may
stand still for seconds, with everything in it, when other tests start their processes."""

PATIENCE = 40.0
REAPER_SECONDS = 2
FIRST_TOKEN_SECONDS = 2
POOL_SIZE = 20
AWAY_SECONDS = 3
ENDED_SECONDS = 4.0
"""The quickest answer. One that hands out a task with patience waits for six."""

PUBLISHED_SECONDS = 6.0
"""A limit, a task and its second attempt, each half a second, and a machine that is busy."""

NOTE = "Part of the search is out of reach"

ANSWERS = "/api/v1/answers/"
FAULTS: list[Fault] = ["stop", "freeze", "slow"]


@dataclass
class Bench:
    """A web process and what it depends on."""

    url: str
    postgres: Wire
    valkey: Wire
    model: ModelEndpoint
    variables: dict[str, str]

    def get(self, path: str) -> httpx2.Response:
        return httpx2.get(f"{self.url}{path}", timeout=PATIENCE)


@pytest.fixture(scope="module")
def bench(collected_assets: None) -> Iterator[Bench]:
    database = connection.settings_dict
    with ExitStack() as stack:
        postgres = stack.enter_context(Wire(f"{database['HOST']}/.s.PGSQL.5432"))
        valkey_url = urlsplit(os.environ["REDIS_URL"])
        valkey = stack.enter_context(Wire(unquote(valkey_url.path)))
        model = stack.enter_context(ModelEndpoint())
        number = parse_qs(valkey_url.query)["db"][0]
        user, name = database["USER"], database["NAME"]
        variables = {
            "DATABASE_POOL_SIZE": str(POOL_SIZE),
            "DATABASE_URL": f"postgresql://{user}@127.0.0.1:{postgres.port}/{name}",
            "REDIS_URL": f"redis://127.0.0.1:{valkey.port}/{number}",
            "OPENAI_BASE_URL": model.url,
            "ASSISTANT_MODEL": "obliging",
            "ASSISTANT_FIRST_TOKEN_SECONDS": str(FIRST_TOKEN_SECONDS),
            "ASSISTANT_REAPER_SECONDS": str(REAPER_SECONDS),
            "ASSISTANT_TURNS_PER_VISITOR": "1000",
            "ASSISTANT_TURNS_PER_ADDRESS": "1000",
            "EMBEDDING_BACKEND": "openai",
            "EMBEDDING_MODEL": "vectors",
            "EMBEDDING_DIMENSIONS": str(ModelEndpoint.DIMENSIONS),
        }
        url = stack.enter_context(web_process(**variables))
        yield Bench(url, postgres, valkey, model, variables)


@pytest.fixture
def articles(bench: Bench, settings: Any) -> Article:
    """An article of the site, in the index as its worker would have put it there."""
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL = "openai", "vectors"
    settings.EMBEDDING_DIMENSIONS = ModelEndpoint.DIMENSIONS
    settings.OPENAI_BASE_URL = bench.model.url
    settings.ASSISTANT_REAPER_SECONDS = REAPER_SECONDS
    make_indexed("Change the invoice address", "Open **Billing** and choose *Address*.")
    return make_indexed("Reset your password", "Open **Settings** and choose *Password*.")


@pytest.fixture(scope="module")
def worker(bench: Bench) -> Iterator[Child]:
    with worker_process(**bench.variables) as child:
        yield child


# People


@dataclass(frozen=True)
class Sent:
    """A question over a transport. `told`: seconds until the answer began or was refused; of a
    JSON answer, which comes whole, 0. `took`: until its end. `events` are those of an answer,
    `refusal` the code in place of one."""

    transport: str
    at: float
    told: float
    took: float
    events: list[Event] = field(default_factory=list)
    refusal: str = ""

    @property
    def ended(self) -> str:
        return self.refusal or self.events[-1].get("code") or self.events[-1]["status"]


@dataclass(frozen=True)
class Seen:
    """A page that somebody opened."""

    at: float
    took: float
    response: httpx2.Response


Act = Callable[[httpx2.Client], None]
Begun = TypeVar("Begun", Sent, Seen)


class Crowd:
    """Some people who read, search and ask all the time, from `with` to its end."""

    def __init__(self, bench: Bench, article: Article) -> None:
        self.pages: list[Seen] = []
        self.searches: list[Seen] = []
        self.sent: list[Sent] = []
        self.broken: list[BaseException] = []
        self._article = article.get_absolute_url()
        self._leave = threading.Event()
        self._since = time.monotonic()
        self._visitors = [_visitor(bench) for _ in range(4)]
        acts = (self._read, self._ask(_ask_sse), self._ask(_ask_ws), self._ask(_ask_json))
        self._threads = [
            threading.Thread(target=self._again, args=[act, visitor])
            for act, visitor in zip(acts, self._visitors, strict=True)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        self.go_on()
        return self

    def __exit__(self, *_error: object) -> None:
        self._leave.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in self._threads), "somebody hangs"
        for visitor in self._visitors:
            visitor.close()

    def go_on(self) -> None:
        """Begin a chapter: until everybody has begun and ended two things in it."""
        self._since = time.monotonic()
        wait_until(self._all_were_served, "everybody to be served", PATIENCE)

    def now(self, what: list[Begun]) -> list[Begun]:
        """Those begun in this chapter."""
        return [one for one in list(what) if one.at >= self._since]

    @property
    def read(self) -> list[Seen]:
        return self.pages + self.searches

    def read_now(self) -> list[Seen]:
        return self.now(self.read)

    def sent_now(self) -> list[Sent]:
        return self.now(self.sent)

    def streamed_now(self) -> list[Sent]:
        return [one for one in self.sent_now() if one.transport != "json"]

    def recovers(self) -> None:
        """Until everybody gets what they want again; not longer than promised."""
        begun = time.monotonic()

        def all_is_well() -> bool:
            return self._good(begun) == {"page", "search", "sse", "ws", "json"}

        wait_until(all_is_well, "the recovery", PATIENCE)
        print(f"recovered after {time.monotonic() - begun:.1f} s")
        assert time.monotonic() - begun < RECOVERED_SECONDS

    def _good(self, since: float) -> set[str]:
        asked = {one.transport for one in list(self.sent) if one.at >= since and _is_done(one)}
        for name, seen in (("page", self.pages), ("search", self.searches)):
            if any(one.at >= since and one.response.status_code == 200 for one in list(seen)):
                asked.add(name)
        return asked

    def _all_were_served(self) -> bool:
        if self.broken:
            raise self.broken[0]
        served = Counter(one.transport for one in self.sent_now())
        served["page"], served["search"] = len(self.now(self.pages)), len(self.now(self.searches))
        return all(served[name] >= 2 for name in ("sse", "ws", "json", "page", "search"))

    def _again(self, act: Act, visitor: httpx2.Client) -> None:
        while not self._leave.is_set():
            try:
                act(visitor)
            except Exception as error:
                self.broken.append(error)
                return
            self._leave.wait(0.1)

    def _read(self, visitor: httpx2.Client) -> None:
        for path, seen in ((self._article, self.pages), ("/search/?q=password", self.searches)):
            begun = time.monotonic()
            response = visitor.get(path)
            seen.append(Seen(begun, time.monotonic() - begun, response))

    def _ask(self, ask: Callable[[httpx2.Client], Sent]) -> Act:
        return lambda visitor: self.sent.append(ask(visitor))


def in_time(waits: Iterable[float]) -> bool:
    """Most within what is promised, and nobody much later: the machine may stand still."""
    found = list(waits)
    return median(found) < TOLD_SECONDS and max(found) < 2 * TOLD_SECONDS


def _visitor(bench: Bench) -> httpx2.Client:
    """Somebody whose session and token a page has given them. What the test before has broken may
    have to recover yet."""
    visitor = httpx2.Client(base_url=bench.url, timeout=PATIENCE)
    wait_until(lambda: visitor.get("/chat/").status_code == 200, "the page of the chat", PATIENCE)
    visitor.headers.update({"X-CSRFToken": visitor.cookies["csrftoken"], "Origin": bench.url})
    return visitor


def _is_done(sent: Sent) -> bool:
    return sent.ended == "completed"


def _question() -> dict[str, str]:
    return {"question": "How do I reset my password?", "key": uuid.uuid4().hex}


def _ask_sse(visitor: httpx2.Client) -> Sent:
    begun = time.monotonic()
    headers = {"Accept": "text/event-stream"}
    with visitor.stream("POST", ANSWERS, json=_question(), headers=headers) as response:
        told = time.monotonic() - begun
        body = response.read().decode()
    took = time.monotonic() - begun
    if response.status_code != 200:
        return Sent("sse", begun, told, took, refusal=_code(response))
    return Sent("sse", begun, told, took, verified(parsed_sse(body)))


def _ask_json(visitor: httpx2.Client) -> Sent:
    begun = time.monotonic()
    response = visitor.post(ANSWERS, json=_question())
    took = time.monotonic() - begun
    if response.status_code == 200:
        answer = response.json()
        end = {**answer, "type": "done", "answer_id": answer["id"]}
        return Sent("json", begun, 0, took, [end])
    if "Content-Location" not in response.headers:
        return Sent("json", begun, took, took, refusal=_code(response))
    answer_id = response.headers["Content-Location"].rsplit("/", 2)[1]
    error = {"type": "error", "answer_id": answer_id, **response.json()["error"]}
    return Sent("json", begun, 0, took, [error])


def _code(response: httpx2.Response) -> str:
    assert response.status_code == 503, response.text
    assert int(response.headers["Retry-After"]) > 0
    return str(response.json()["error"]["code"])


def _ask_ws(visitor: httpx2.Client) -> Sent:
    begun = time.monotonic()
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    origin = visitor.headers["Origin"]
    events: list[Event] = []
    told = 0.0
    with connect(
        f"{origin.replace('http:', 'ws:')}/ws/v1/chat/",
        origin=Origin(origin),
        additional_headers={"Cookie": cookie},
        open_timeout=PATIENCE,
    ) as socket:
        with suppress(ConnectionClosed):  # what it has to say it has said before
            socket.send(json.dumps({"type": "ask", **_question()}))
        while not events or events[-1]["type"] not in ("done", "error"):
            events.append(json.loads(socket.recv(PATIENCE)))
            told = told or time.monotonic() - begun
    took = time.monotonic() - begun
    if "seq" not in events[-1]:
        assert events[-1]["retry_after"] > 0
        return Sent("ws", begun, told, took, refusal=events[-1]["code"])
    return Sent("ws", begun, told, took, verified(events))


def check_turns(crowd: Crowd) -> None:
    """No committed turn is lost: each has one end, stored as it was told."""
    wait_until(_all_have_ended, "the end of the turns", PATIENCE)
    stored = {str(answer.pk): answer for answer in Answer.objects.all()}
    told = {sent.events[0]["answer_id"]: sent.events[-1] for sent in crowd.sent if sent.events}
    assert told.keys() <= stored.keys()
    for answer_id, end in told.items():
        answer = stored[answer_id]
        if end["type"] == "done":
            assert (answer.status, answer.text) == (end["status"], end["text"])
        else:
            assert answer.status in ("failed", "interrupted")
            assert answer.text == end.get("text", answer.text)
    for answer_id in stored.keys() - told.keys():
        assert stored[answer_id].finished_at is not None


def _all_have_ended() -> bool:
    tasks.end_interrupted_turns()
    return not Answer.objects.filter(status=Answer.Status.RUNNING).exists()


def report(crowd: Crowd, part: str, fault: str) -> None:
    """For who reads the output of a test that failed."""
    print(f"\n{part}: {fault}")
    for one in crowd.sent_now():
        print(f"{one.transport} {one.ended} told={one.told:.2f} took={one.took:.2f}", end="; ")
    for seen in (crowd.pages, crowd.searches):
        now = crowd.now(seen)
        print(Counter(one.response.status_code for one in now), f"{max(s.took for s in now):.2f}")


def statuses(seen: list[Seen]) -> set[int]:
    return {one.response.status_code for one in seen}


def ends(sent: list[Sent]) -> set[str]:
    return {one.ended for one in sent}


# Valkey


@pytest.mark.parametrize("fault", FAULTS)
def test_without_valkey_pages_stay_up_and_answers_finish(
    bench: Bench, articles: Article, fault: Fault
) -> None:
    with Crowd(bench, articles) as crowd:
        bench.valkey.fail(fault)
        try:
            crowd.go_on()
            report(crowd, "valkey", fault)
            assert statuses(crowd.read_now()) == {200}
            assert ends(crowd.sent_now()) == {"completed"}
            assert in_time(one.told for one in crowd.sent_now())
            assert min(one.took for one in crowd.sent_now()) < ENDED_SECONDS
            assert published(bench) < PUBLISHED_SECONDS
        finally:
            bench.valkey.mend()
        crowd.recovers()
        wait_until(lambda: bench.get("/readyz").status_code == 200, "readiness", RECOVERED_SECONDS)
    assert statuses(crowd.read) == {200}
    check_turns(crowd)


def published(bench: Bench) -> float:
    """In how many seconds a program publishes an article, whose task nobody can be handed."""
    article = make_article("Written meanwhile", publish=False)
    user = User.objects.create_user("pipeline")
    user.user_permissions.set(Permission.objects.filter(codename="publish_article"))
    headers = {"Authorization": f"Bearer {tokens.create(user, 'pipeline')[1]}", "If-Match": "*"}
    url = f"{bench.url}/api/v1/manage/articles/{article.pk}/publish/"
    begun = time.monotonic()
    httpx2.post(url, headers=headers, timeout=PATIENCE).raise_for_status()
    took = time.monotonic() - begun
    print(f"published in {took:.1f} seconds")
    return took


def test_a_staff_page_does_not_wait_for_a_valkey_that_is_frozen(
    bench: Bench, settings: Any
) -> None:
    where = {"LOCATION": bench.variables["REDIS_URL"]}
    settings.CACHES = {"default": {**settings.CACHES["default"], **where}}
    progress.say(7)
    assert progress.current() == 7
    thaw = threading.Timer(PATIENCE, bench.valkey.mend)  # or a page that waits would for ever
    bench.valkey.fail("freeze")
    try:
        thaw.start()
        begun = time.monotonic()
        assert progress.current() is None
        assert time.monotonic() - begun < 2 * TOLD_SECONDS
    finally:
        thaw.cancel()
        bench.valkey.mend()
    caches["default"].close()


# PostgreSQL


@pytest.mark.parametrize("fault", FAULTS)
def test_without_postgresql_everybody_is_told_soon(
    bench: Bench, articles: Article, fault: Fault
) -> None:
    with Crowd(bench, articles) as crowd:
        bench.postgres.fail(fault)
        try:
            crowd.go_on()
            report(crowd, "postgres", fault)
            if fault == "slow":
                assert statuses(crowd.read_now()) == {200}
                assert ends(crowd.sent_now()) == {"completed"}
            else:
                assert statuses(crowd.read_now()) == {503}
                assert ends(crowd.sent_now()) == {"unavailable"}
                assert in_time(one.told for one in crowd.sent_now())
                assert in_time(one.took for one in crowd.read_now())
        finally:
            bench.postgres.mend()
        crowd.recovers()
    assert statuses(crowd.read) <= {200, 503}
    assert ends(crowd.sent) <= {"completed", "unavailable", "interrupted"}
    check_turns(crowd)
    wait_until(no_transaction_is_left, "every connection to be given back", RECOVERED_SECONDS)


def no_transaction_is_left() -> bool:
    """Whether the site holds no more connections than its pool, and does nothing with them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT state FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        states = [state for (state,) in cursor.fetchall()]
    return len(states) <= POOL_SIZE and set(states) <= {"idle"}


VISITORS, CONNECTIONS = 16, 6


def test_a_process_without_a_free_connection_refuses_calmly(
    bench: Bench, articles: Article
) -> None:
    """Many meet a process whose connections are all taken, here by a lock."""
    few = {**bench.variables, "DATABASE_POOL_SIZE": str(CONNECTIONS)}
    with web_process(**few) as url:
        crowded = replace(bench, url=url)
        with closing(_visitor(crowded)) as visitor, ThreadPoolExecutor(VISITORS) as people:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("LOCK TABLE articles_article IN ACCESS EXCLUSIVE MODE")
                path = articles.get_absolute_url()
                holding = [people.submit(visitor.get, path) for _ in range(CONNECTIONS)]
                wait_until(lambda: waiting_for_locks() == CONNECTIONS, "all to be taken")
                begun = time.monotonic()
                pages = [people.submit(visitor.get, path) for _ in range(6)]
                program = people.submit(visitor.get, "/api/v1/search/?q=password")
                asking = [people.submit(ask, visitor) for ask in (_ask_sse, _ask_json, _ask_ws)]
                refused = [page.result() for page in [*pages, program]]
                sent = [one.result() for one in asking]
                took = time.monotonic() - begun
            assert {page.result().status_code for page in holding} == {200}
        assert {page.status_code for page in refused} == {503}
        assert all(int(page.headers["Retry-After"]) > 0 for page in refused)
        assert "We will be back in a moment" in refused[0].text
        assert refused[-1].json()["error"]["code"] == "unavailable"
        assert {one.refusal for one in sent} == {"unavailable"}
        assert POOL_SECONDS <= took < 2 * POOL_SECONDS
        assert crowded.get(path).status_code == 200


def waiting_for_locks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return int(cursor.fetchone()[0])


# The embeddings


@pytest.mark.parametrize("fault", FAULTS)
def test_without_embeddings_words_are_searched_for_and_search_says_so(
    bench: Bench, articles: Article, fault: Fault
) -> None:
    with Crowd(bench, articles) as crowd:
        bench.model.faults["embeddings"] = fault
        try:
            crowd.go_on()
            report(crowd, "embeddings", fault)
            assert statuses(crowd.read_now()) == {200}
            assert ends(crowd.sent_now()) == {"completed"}
            for seen in crowd.now(crowd.searches):
                assert "/reset-your-password/" in seen.response.text
                assert (NOTE in seen.response.text) == (fault != "slow")
            reason = None if fault == "slow" else "embeddings_failed"
            assert searched(bench)["fallback_reason"] == reason
        finally:
            bench.model.faults.clear()
        crowd.recovers()
        wait_until(
            lambda: searched(bench)["mode"] == "hybrid", "search by meaning", RECOVERED_SECONDS
        )
    assert all("/reset-your-password/" in seen.response.text for seen in crowd.searches)
    check_turns(crowd)


def searched(bench: Bench) -> dict[str, Any]:
    found: dict[str, Any] = bench.get("/api/v1/search/?q=password").json()
    return found


# The provider


@pytest.mark.parametrize("fault", FAULTS)
def test_without_the_provider_pages_and_search_stay_up_and_the_chat_says_so(
    bench: Bench, articles: Article, fault: Fault
) -> None:
    with Crowd(bench, articles) as crowd:
        bench.model.faults["completions"] = fault
        try:
            crowd.go_on()
            report(crowd, "provider", fault)
            assert statuses(crowd.read_now()) == {200}
            assert not any(NOTE in seen.response.text for seen in crowd.searches)
            assert ends(crowd.sent_now()) == {"completed" if fault == "slow" else "unavailable"}
            assert in_time(one.told for one in crowd.streamed_now())
            patience = {"stop": 0, "freeze": FIRST_TOKEN_SECONDS}
            if fault in patience:
                longest = patience[fault] + 2 * TOLD_SECONDS
                assert all(one.took < longest for one in crowd.sent_now())
        finally:
            bench.model.faults.clear()
        crowd.recovers()
    check_turns(crowd)


# The worker


def test_without_the_worker_everything_else_goes_on(
    bench: Bench, articles: Article, worker: Child
) -> None:
    with Crowd(bench, articles) as crowd:
        for fault in FAULTS:
            with disturbed(worker, fault):
                article = make_article(f"Written during {fault}")
                crowd.go_on()
                report(crowd, "worker", fault)
                assert statuses(crowd.read_now()) == {200}
                assert ends(crowd.sent_now()) == {"completed"}
                assert fault == "slow" or not is_indexed(article)
            wait_until_indexed(article)
    check_turns(crowd)


@pytest.mark.parametrize("fault", ["stop", "freeze"])
def test_a_worker_outlives_a_loss_of_its_servers(
    bench: Bench, articles: Article, worker: Child, fault: Fault
) -> None:
    for wire in (bench.valkey, bench.postgres):
        wire.fail(fault)
        try:
            article = make_article(f"Written without {wire.port}")
            time.sleep(AWAY_SECONDS)
        finally:
            wire.mend()
        wait_until_indexed(article)


def wait_until_indexed(article: Article) -> None:
    wait_until(lambda: is_indexed(article), "the index", RECOVERED_SECONDS)


def is_indexed(article: Article) -> bool:
    return Passage.objects.filter(article=article).exists()


@contextmanager
def disturbed(worker: Child, fault: Fault) -> Iterator[None]:
    """The worker's processes are gone, do nothing, or get a quarter of the time."""
    group = worker.pid
    assert group is not None
    over = threading.Event()

    def slow_down() -> None:
        while not over.wait(0.05):
            os.killpg(group, signal.SIGSTOP)
            over.wait(0.15)
            os.killpg(group, signal.SIGCONT)

    slow = threading.Thread(target=slow_down)
    if fault == "stop":
        worker.kill()
    elif fault == "freeze":
        os.killpg(group, signal.SIGSTOP)
    else:
        slow.start()
    try:
        yield
    finally:
        over.set()
        if fault == "stop":
            worker.start()  # as the supervisor does
            wait_until(lambda: app.control.ping(timeout=0.5), "the worker")
        elif fault == "freeze":
            os.killpg(group, signal.SIGCONT)
        else:
            slow.join()
