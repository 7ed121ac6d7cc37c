"""An OpenAI-compatible server that follows a script, over real HTTP on loopback.

    with ScriptedProvider() as provider:
        provider.reply(say("Hel"), say("lo"), finish(), usage(12, 2), DONE)
        …
    provider.requests[0].body["messages"]

Each request takes the next reply. A request that no reply is left for, a reply that
nobody asked for and steps that were never sent fail the test when the server closes, and so
does a request that holds what no model may be told (`tests.leaks`), or a history that real
providers refuse: a call without its result, a result without its call.
Steps run in order: a `dict` is sent as an event, `bytes` as they are; `Wait` holds
the stream until the test sets its event, `Drop` cuts the connection, `Endless` sends
until the client is gone. Nothing sleeps.
"""

from __future__ import annotations

import json
import select
import socket
import ssl
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.leaks import leaks_in

PATIENCE_SECONDS = 20.0
POLL_SECONDS = 0.005
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Wait:
    """Holds the reply until `event` is set, or the client is gone."""

    event: threading.Event


@dataclass(frozen=True)
class Drop:
    """Cuts the connection in the middle of the response."""


@dataclass(frozen=True)
class Endless:
    """Sends this event until the client is gone; without one, waits for that in silence."""

    event: Mapping[str, Any] | None = None


Step = bytes | Mapping[str, Any] | Wait | Drop | Endless


@dataclass
class Reply:
    """A response. `body` instead of steps is sent whole, as an error or plain JSON is."""

    steps: tuple[Step, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass
class Request:
    """What the client sent, and what became of it. Names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    sent: int = 0
    """How many events went out."""
    closed_by_client: threading.Event = field(default_factory=threading.Event)
    answered: threading.Event = field(default_factory=threading.Event)


class ScriptedProvider:
    """The server. `url` is what `OPENAI_BASE_URL` would be. `self_signed`: it speaks TLS, by a
    certificate that nobody has any reason to trust.

    `forgives_unused`: replies that nobody asks for are nothing to complain of. `forgives_leaving`:
    nor is a client that leaves while there is more to say.
    """

    def __init__(self, *, self_signed: bool = False) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.forgives_unused = False
        self.forgives_leaving = False
        self._replies: list[Reply] = []
        self._problems: list[str] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._server.tls = _self_signed() if self_signed else None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,))

    @property
    def url(self) -> str:
        scheme = "https" if self._server.tls else "http"
        return f"{scheme}://127.0.0.1:{self._server.server_port}/v1"

    def reply(self, *steps: Step, status: int = 200, **headers: str) -> None:
        """Adds a streamed reply; headers are given with underscores: `retry_after="1"`."""
        self._replies.append(Reply(steps, status, _headers(headers)))

    def refuse(self, status: int, error: object = None, **headers: str) -> None:
        """Adds an error reply with OpenAI's `{"error": …}`, or the given text as it is."""
        text = error if isinstance(error, str) else json.dumps({"error": error or {}})
        self._replies.append(Reply(status=status, headers=_headers(headers), body=text.encode()))

    def answer(self, text: str, *, prompt: int = 20, completion: int = 5) -> None:
        """Adds a whole answer in one word a chunk."""
        first, *rest = text.split(" ")
        words = [say(first), *(say(f" {word}") for word in rest)]
        self.reply(*words, finish(), usage(prompt, completion), DONE)

    def call(self, name: str, arguments: Mapping[str, Any] | str, call_id: str = "a") -> None:
        """Adds a round that calls one tool."""
        self.reply(call(name, arguments, call_id=call_id), finish("tool_calls"), usage(), DONE)

    def forget_replies(self) -> None:
        """Of those that nobody has asked for."""
        with self._lock:
            self._replies.clear()

    def next_reply(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            if self._replies:
                return self._replies.pop(0)
        self.problem(f"unexpected request number {len(self.requests)}")
        return Reply(status=418, body=b"the script has no reply left")

    def problem(self, text: str) -> None:
        with self._lock:
            self._problems.append(text)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join(PATIENCE_SECONDS)
        self._server.server_close()
        if error is None:
            is_left = bool(self._replies) and not self.forgives_unused
            left = [f"{len(self._replies)} replies unused"] if is_left else []
            assert not self._problems + left, "; ".join(self._problems + left)


def say(text: str | None, **delta: Any) -> dict[str, Any]:
    """A chunk with text."""
    return _chunk({"content": text, **delta})


def call(
    name: str, arguments: Mapping[str, Any] | str, *, call_id: str | None = "a", index: int = 0
) -> dict[str, Any]:
    """A chunk with a whole tool call."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    part = {"index": index, "id": call_id, "type": "function", "function": function}
    return _chunk({"tool_calls": [part]})


def part(**fragment: Any) -> dict[str, Any]:
    """A chunk with one fragment of a tool call, exactly as given."""
    return _chunk({"tool_calls": [fragment]})


def finish(reason: str = "stop") -> dict[str, Any]:
    return {**_chunk({}), "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def usage(prompt: int = 20, completion: int = 5, cached: int = 0) -> dict[str, Any]:
    counts = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return {**_chunk({}), "choices": [], "usage": counts}


def broken_calls(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What a provider would refuse of a history's tool calls: each has its result right behind
    it, and arguments that are JSON."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"a result without its call: {message['tool_call_id']}"
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            yield f"calls without a result: {sorted(waiting)}"
        calls = message.get("tool_calls") or ()
        waiting = {call["id"] for call in calls}
        for one in calls:
            try:
                json.loads(one["function"]["arguments"])
            except ValueError:
                yield f"arguments that are no JSON: {one['id']}"
    if waiting:
        yield f"calls without a result: {sorted(waiting)}"


def _chunk(delta: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "delta": dict(delta), "finish_reason": None}],
    }


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in given.items()}


def _self_signed() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).with_name("self_signed.pem"))
    return context


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    provider: ScriptedProvider
    tls: ssl.SSLContext | None

    def finish_request(self, request: Any, client_address: Any) -> None:
        self.provider.connections += 1
        if self.tls is None:
            super().finish_request(request, client_address)
            return
        with self.tls.wrap_socket(request, server_side=True) as encrypted:
            super().finish_request(encrypted, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may go at any time; what was left unsent is reported by the handler."""


class _ClientGoneError(Exception):
    """The client closed its end."""


class _DroppedError(Exception):
    """The script closed ours."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Quiet."""

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        content = self.rfile.read(int(headers["content-length"]))
        request = Request(self.path, headers, json.loads(content))
        for problem in (*leaks_in(request), *broken_calls(request.body.get("messages", ()))):
            self.server.provider.problem(problem)
        reply = self.server.provider.next_reply(request)
        try:
            if reply.body is not None:
                self._send_whole(reply, reply.body)
            else:
                self._send_steps(reply, request)
        finally:
            request.answered.set()

    def _send_whole(self, reply: Reply, body: bytes) -> None:
        self.send_response(reply.status)
        headers = {"Content-Type": "application/json", **reply.headers}
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _send_steps(self, reply: Reply, request: Request) -> None:
        self.send_response(reply.status)
        headers = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
        for name, value in {**headers, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        left = list(reply.steps)
        try:
            while left:
                self._take(left[0], request)
                left.pop(0)
            self._write(b"0\r\n\r\n")
        except _DroppedError:
            self.close_connection = True
            if left[1:]:
                self.server.provider.problem(f"nothing is sent after a drop: {left[1:]!r}")
        except _ClientGoneError:
            request.closed_by_client.set()
            self.close_connection = True
            surprises = not self.server.provider.forgives_leaving
            if surprises and left and not isinstance(left[0], Endless | Wait):
                self.server.provider.problem(f"the client left before {left[0]!r}")

    def _take(self, step: Step, request: Request) -> None:
        match step:
            case bytes():
                self._send(step, request)
            case Wait():
                self._wait(step.event)
            case Drop():
                self.connection.shutdown(socket.SHUT_RDWR)
                raise _DroppedError
            case Endless(event):
                while True:
                    if event is None:
                        self._wait(threading.Event())
                    else:
                        self._send(_event(event), request)
            case _:
                self._send(_event(step), request)

    def _send(self, data: bytes, request: Request) -> None:
        if self._client_is_gone():
            raise _ClientGoneError
        self._write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        request.sent += 1

    def _write(self, data: bytes) -> None:
        try:
            self.wfile.write(data)
        except OSError as error:
            raise _ClientGoneError from error

    def _wait(self, event: threading.Event) -> None:
        for _ in range(int(PATIENCE_SECONDS / POLL_SECONDS)):
            if event.wait(POLL_SECONDS):
                return
            if self._client_is_gone():
                raise _ClientGoneError
        self.server.provider.problem("waited too long for the test or the client")
        raise _ClientGoneError

    def _client_is_gone(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True


def _event(chunk: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


def in_slices(*chunks: Mapping[str, Any], size: int = 1) -> Iterable[bytes]:
    """The bytes of these events in pieces, each sent by itself."""
    data = b"".join(_event(chunk) for chunk in chunks)
    return (data[start : start + size] for start in range(0, len(data), size))
