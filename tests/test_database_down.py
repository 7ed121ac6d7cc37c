"""A PostgreSQL that is down, frozen or busy: everybody is told soon, and what waits is freed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import psycopg
import pytest
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import path
from psycopg_pool import ConnectionPool, PoolTimeout

from helpcenter import urls
from helpcenter.errors import server_error
from helpcenter.postgres import base, pulse
from helpcenter.postgres.pulse import NoAnswerError, Pulse

# Pages and the API


def dies(request: HttpRequest) -> HttpResponse:
    raise OperationalError("couldn't get a connection after 4.00 sec")


class Broken:
    """The site's addresses, and one whose view meets a database that is down."""

    handler500 = staticmethod(server_error)
    urlpatterns = [path("api/v1/dies/", dies), path("dies/", dies), *urls.urlpatterns]


@pytest.fixture
def visitor(settings: Any) -> Client:
    settings.ROOT_URLCONF = Broken
    return Client(raise_request_exception=False)


def test_a_visitor_gets_a_calm_page_that_asks_no_database(
    visitor: Client, caplog: pytest.LogCaptureFixture
) -> None:
    response = visitor.get("/dies/")
    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert response["Cache-Control"] == "no-store"
    assert "We will be back in a moment" in response.content.decode()
    assert [record.getMessage() for record in caplog.records] == ["database_unavailable"]
    assert "connection" not in response.content.decode()


def test_a_program_gets_the_apis_error(visitor: Client) -> None:
    response = visitor.get("/api/v1/dies/")
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.json()["error"]["code"] == "unavailable"


@pytest.mark.parametrize(
    ("error", "status"),
    [(OperationalError(), 503), (InterfaceError(), 503), (RuntimeError(), 500)],
)
def test_only_a_database_that_is_down_is_no_crash(
    rf: RequestFactory, error: Exception, status: int
) -> None:
    try:
        raise error
    except Exception:
        assert server_error(rf.get("/")).status_code == status


# The pulse


class Server:
    """What a `Pulse` asks; `hangs` while its event is not set."""

    def __init__(self, *, answers: bool = True) -> None:
        self.answers = answers
        self.asked = 0
        self.hangs: threading.Event | None = None

    def __call__(self) -> bool:
        self.asked += 1
        if self.hangs is not None:
            self.hangs.wait(10)
        return self.answers


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks but the test, and nothing takes longer than it has to."""
    monkeypatch.setattr(Pulse, "_start", lambda self: None)
    monkeypatch.setattr(pulse, "OVERDUE_SECONDS", -1.0)
    monkeypatch.setattr(pulse, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(pulse, "ASK_AGAIN_SECONDS", 0.0)


def test_nobody_is_asked_while_nobody_waits() -> None:
    server = Server()
    Pulse(server).look()
    assert server.asked == 0


def test_a_server_that_lets_people_in_is_not_down_however_long_a_statement_takes() -> None:
    server = Server()
    watched = Pulse(server)
    with watched.watching():
        watched.look()
    assert (server.asked, watched.is_down) == (1, False)
    watched.check()


def hanging() -> Server:
    server = Server()
    server.hangs = threading.Event()
    return server


@pytest.mark.parametrize("server", [Server(answers=False), hanging()], ids=["stopped", "frozen"])
def test_one_that_does_not_is_down_until_it_does_again(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Pulse(server)
    with watched.watching():
        watched.look()
    with pytest.raises(NoAnswerError):
        watched.check()
    watched.look()
    assert watched.is_down
    server.answers = True
    if server.hangs:
        server.hangs.set()
    with caplog.at_level("INFO"):
        watched.look()
    watched.check()
    assert caplog.records[-1].getMessage() == "database_answers_again"


def test_an_answer_to_somebody_else_in_the_meantime_is_a_sign_of_life() -> None:
    watched: Pulse

    def answers() -> bool:
        with watched.watching():
            pass
        return False

    watched = Pulse(answers)
    with watched.watching():
        watched.look()
    assert not watched.is_down


def test_an_error_is_no_sign_of_life() -> None:
    watched: Pulse

    def answers() -> bool:
        with pytest.raises(psycopg.OperationalError), watched.watching():
            raise psycopg.OperationalError
        return False

    watched = Pulse(answers)
    with watched.watching():
        watched.look()
    assert watched.is_down


def test_it_is_asked_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "ASK_AGAIN_SECONDS", 60.0)
    server = Server()
    watched = Pulse(server)
    with watched.watching():
        watched.look()
        watched.look()
    assert server.asked == 1


def steps() -> Generator[str, str, str]:
    given = yield "first"
    given = yield given * 2
    return given


def test_what_waits_is_freed_between_two_steps_when_the_server_goes_down() -> None:
    watched = Pulse(Server(answers=False))
    waiting = watched.interruptible(steps())
    assert next(waiting) == "first"
    assert waiting.send("a") == "aa"
    watched.is_down = True
    with pytest.raises(NoAnswerError):
        waiting.send("b")


def test_steps_are_passed_on_both_ways() -> None:
    def all_of_it() -> Generator[str, str, str]:
        return (yield from Pulse(Server()).interruptible(steps()))

    waiting = all_of_it()
    assert [next(waiting), waiting.send("a")] == ["first", "aa"]
    with pytest.raises(StopIteration) as end:
        waiting.send("b")
    assert end.value.value == "b"


# Connections


@pytest.fixture
def conninfo(settings: Any) -> str:
    from django.db import connection

    return base._named(connection.get_connection_params())


@pytest.fixture
def pool(conninfo: str) -> Iterator[ConnectionPool[Any]]:
    with ConnectionPool(
        conninfo, min_size=1, max_size=1, connection_class=base.WatchedConnection, open=True
    ) as pool:
        yield pool


def in_thread(work: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    """The thread, and what its work came to."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(work())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


@pytest.mark.django_db
def test_a_real_server_answers_also_by_a_refusal_and_none_does_not(conninfo: str) -> None:
    assert pulse.answers(conninfo)
    assert pulse.answers(f"{conninfo} dbname=of_nobody")
    assert not pulse.answers("host=127.0.0.1 port=1 dbname=x")


@pytest.mark.django_db
def test_a_pool_that_cannot_connect_is_not_waited_for_to_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Within it the pool tries again at least once: it does so a second after it could not connect.
    monkeypatch.setattr(base, "FIRST_WAIT_SECONDS", 1.5)
    nowhere = "host=127.0.0.1 port=1 dbname=x"
    with ConnectionPool(nowhere, min_size=1, max_size=1, open=True) as pool:
        begun = time.monotonic()
        with pytest.raises(PoolTimeout):
            base._taken(pool, Pulse(Server()))
        assert time.monotonic() - begun < base.POOL_SECONDS - 1


@pytest.mark.django_db
def test_a_statement_that_waits_ends_when_its_server_goes_down(conninfo: str) -> None:
    connection = base.WatchedConnection.connect(conninfo)
    watched = connection._pulse
    assert watched is not None
    thread, found = in_thread(lambda: connection.execute("SELECT pg_sleep(20)"))
    while not watched._waits:
        time.sleep(0.01)
    watched.is_down = True
    try:
        thread.join(5)
    finally:
        watched.is_down = False
    assert isinstance(found[0], NoAnswerError)
    assert connection.closed


@pytest.mark.django_db
def test_a_full_pool_is_waited_for_and_then_refused(
    pool: ConnectionPool[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "FIRST_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(base, "POOL_SECONDS", 0.1)
    server = Server()
    held = base._taken(pool, Pulse(server))
    with pytest.raises(PoolTimeout):
        base._taken(pool, Pulse(server))
    monkeypatch.setattr(base, "POOL_SECONDS", 20.0)
    thread, found = in_thread(lambda: base._taken(pool, Pulse(server)))
    pool.putconn(held)
    thread.join(5)
    assert found == [held]
    pool.putconn(held)


@pytest.mark.django_db
def test_while_the_server_is_down_nobody_waits_for_the_pool(
    pool: ConnectionPool[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    down = Pulse(Server(answers=False))
    down.is_down = True
    with pytest.raises(NoAnswerError):
        base._taken(pool, down)
    monkeypatch.setattr(base, "FIRST_WAIT_SECONDS", 0.2)
    held = pool.getconn()
    goes_down = Pulse(Server(answers=False))
    thread, found = in_thread(lambda: base._taken(pool, goes_down))
    goes_down.is_down = True
    thread.join(5)
    assert isinstance(found[0], NoAnswerError)
    pool.putconn(held)
