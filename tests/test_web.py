"""The web server as a process: its drain on SIGTERM, its limits, its pool."""

import asyncio
import http.client
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from helpcenter.processes import Child
from tests.processes import answers, free_port, running, site_environment, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

# The web server with one live task, which lasts until a file appears.
SCRIPT = """
import asyncio, sys
from pathlib import Path
from helpcenter import drain, web

class Server(web.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        drain.track(asyncio.get_running_loop().create_task(self.live()))

    async def live(self):
        while not Path(sys.argv[1]).exists():
            await asyncio.sleep(0.01)

web.Server = Server
web.main()
"""


@contextmanager
def server_with_a_live_task(release: Path) -> Iterator[tuple[Child, str]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-c", SCRIPT, str(release)]
    with running("web", command, site_environment(PORT=str(port), SITE_URL=url)) as child:
        wait_until(lambda: answers(f"{url}/healthz"), "the web server")
        yield child, url


def status(url: str) -> int:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request("GET", parts.path)
        return connection.getresponse().status
    finally:
        connection.close()


def ended(child: Child) -> int:
    wait_until(lambda: child.exit_status() is not None, "the server's end")
    found = child.exit_status()
    assert found is not None
    return found


@pytest.mark.slow
def test_on_sigterm_it_is_not_ready_but_serves_until_live_tasks_have_finished(
    tmp_path: Path,
) -> None:
    with server_with_a_live_task(tmp_path / "release") as (child, url):
        child.signal(signal.SIGTERM)
        wait_until(lambda: status(f"{url}/readyz") == 503, "the drain")
        assert status(f"{url}/healthz") == 200
        assert child.exit_status() is None
        (tmp_path / "release").touch()
        assert ended(child) == 0


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with server_with_a_live_task(tmp_path / "release") as (child, url):
        child.signal(signal.SIGTERM)
        wait_until(lambda: status(f"{url}/readyz") == 503, "the drain")
        child.signal(signal.SIGTERM)
        assert ended(child) == 0


@pytest.mark.slow
def test_a_port_in_use_ends_it_with_an_error(live_site: str) -> None:
    port = str(urlsplit(live_site).port)
    with running(
        "web", [sys.executable, "-m", "helpcenter.web"], site_environment(PORT=port)
    ) as child:
        assert ended(child) != 0


@pytest.mark.slow
def test_it_serves_pages_health_and_hashed_assets(live_site: str) -> None:
    parts = urlsplit(live_site)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.request("GET", "/admin/login/")
    page = connection.getresponse().read().decode()
    path = page.split('href="/static/', 1)[1].split('"', 1)[0]
    connection.request("GET", f"/static/{path}", headers={"Accept-Encoding": "gzip"})
    asset = connection.getresponse()
    asset.read()
    assert asset.status == 200
    assert "immutable" in asset.headers["Cache-Control"]
    assert asset.headers["Content-Encoding"] == "gzip"
    connection.request("GET", "/readyz")
    ready = json.loads(connection.getresponse().read())
    assert ready["checks"]["database"] == "ok"
    connection.close()


@pytest.mark.slow
def test_a_socket_that_no_route_takes_is_refused(live_site: str) -> None:
    async def body() -> int:
        try:
            async with connect(f"ws://{urlsplit(live_site).netloc}/ws/nowhere/"):
                return 101
        except InvalidStatus as refusal:
            return refusal.response.status_code

    assert asyncio.run(body()) in {403, 404}


@pytest.mark.slow
def test_without_a_model_its_client_is_not_loaded() -> None:
    script = """
import sys, django
django.setup()
import helpcenter.asgi
sys.exit("openai" in sys.modules)
"""
    environment = site_environment(DJANGO_SETTINGS_MODULE="helpcenter.settings")
    with running("web", [sys.executable, "-c", script], environment) as child:
        assert ended(child) == 0
