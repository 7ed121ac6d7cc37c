"""`Dockerfile` and `compose.yaml`, as far as they can be judged without building an image."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest
import yaml

from helpcenter import settings, web
from helpcenter.supervisor import WORKER_GRACE_SECONDS
from tests.production_page import commands
from tests.servers import PROJECT

DOCKERFILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((PROJECT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OWN = ["web", "worker", "schedule", "migrate"]


def instructions(name: str) -> list[str]:
    """The arguments of each such instruction, in one line each."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [" ".join(rest.split()) for rest in re.findall(rf"^{name} (.*)$", joined, re.MULTILINE)]


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def test_what_the_image_copies_exists_and_is_let_in() -> None:
    let_in = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [line.split()[:-1] for line in instructions("COPY") if not line.startswith("--from")]
    names = [name.rstrip("/") for line in copied for name in line]
    assert {"manage.py", "helpcenter", "articles", "assistant", "static", "docs"} <= {*names}
    for name in names:
        assert (PROJECT / name).exists(), name
        assert f"!{name}" in let_in, name


def test_no_file_with_secrets_can_get_into_the_image() -> None:
    lines = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "*"
    assert lines[-1] == "**/.env"


def test_the_image_runs_as_nobody_in_particular_and_says_whether_it_lives() -> None:
    assert instructions("USER") == ["10001:10001"]
    assert DOCKERFILE.index("\nUSER") > DOCKERFILE.rindex("\nRUN")
    [check] = instructions("HEALTHCHECK")
    assert "/healthz" in check
    [probe] = [json.loads(check.split("CMD ")[1])]
    compile(probe[2], "HEALTHCHECK", "exec")
    assert instructions("STOPSIGNAL") == ["SIGTERM"]


def test_the_images_variables_are_settings() -> None:
    [line] = instructions("ENV")
    names = {part.split("=")[0] for part in shlex.split(line)}
    assert names - {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"} <= settings.env.names


def test_its_commands_are_those_of_the_manual() -> None:
    web_one, web_two, worker, schedule = [one.words for one in commands("The processes")]
    assert json.loads(instructions("CMD")[0]) == web_one == web_two == SERVICES["web"]["command"]
    assert SERVICES["worker"]["command"] == worker
    assert SERVICES["schedule"]["command"] == schedule
    set_up = [one.words for one in commands("Check and set up")]
    assert SERVICES["migrate"]["command"] in set_up


@pytest.mark.parametrize("name", OWN)
def test_a_container_of_the_site_can_write_to_its_data_only(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["volumes"] == ["data:/data"]
    assert service["tmpfs"] == ["/tmp"]  # noqa: S108
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("name", ["web", "worker", "schedule"])
def test_processes_start_when_servers_answer_and_migrations_are_done(name: str) -> None:
    waits = {on: how["condition"] for on, how in SERVICES[name]["depends_on"].items()}
    assert waits == {
        "migrate": "service_completed_successfully",
        "postgres": "service_healthy",
        "valkey": "service_healthy",
    }


def test_what_is_waited_for_says_when_it_is_healthy() -> None:
    assert SERVICES["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert SERVICES["migrate"]["restart"] == "no"
    for name in ("postgres", "valkey", "worker", "schedule"):
        assert SERVICES[name]["healthcheck"]["test"]


def test_a_container_is_given_the_time_to_drain() -> None:
    turn = settings.ASSISTANT_TURN_SECONDS + web.STORE_SECONDS + web.CLOSE_SECONDS
    assert seconds(SERVICES["web"]["stop_grace_period"]) > turn
    assert seconds(SERVICES["worker"]["stop_grace_period"]) > WORKER_GRACE_SECONDS


def test_servers_are_pinned_and_keep_their_data() -> None:
    for name in ("postgres", "valkey"):
        assert re.search(r":\d+\.\d+\.\d+", SERVICES[name]["image"]), name
        assert SERVICES[name]["volumes"][0].split(":")[0] in COMPOSE["volumes"]
        assert "ports" not in SERVICES[name]


def test_passwords_are_in_neither_file() -> None:
    given = "${POSTGRES_PASSWORD:?set it in .env}"
    assert SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD"] == given
    for name in OWN:
        assert f":{given}@" in SERVICES[name]["environment"]["DATABASE_URL"]
        assert SERVICES[name]["env_file"] == ".env"
