"""The log in Valkey: a stream per answer, its entries' ids their `seq`.

An id can be given only once and only upwards, so two processes can never both write
event 7 of an answer: the second one is told. Every key expires.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from django.conf import settings
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from assistant.eventlog.feed import Entry

STREAM_SECONDS = 3600
STOP_SECONDS = 120
TIMEOUT_SECONDS = 0.5
TAIL_SECONDS = 0.1
"""How long a read waits for new entries. Another answer's follower joins between two reads."""

_APPEND = """
local seconds, refused = ARGV[1], {}
for number, key in ipairs(KEYS) do
  local verdict, entry = nil, '(.-)\\n(.-)\\n(.-)\\n(.-)\\n'
  for id, kind, body, note in string.gmatch(ARGV[number + 1], entry) do
    local command = {'XADD', key}
    if id ~= '1-0' then table.insert(command, 'NOMKSTREAM') end
    for _, word in ipairs({id, kind, body}) do table.insert(command, word) end
    if note ~= '' then
      table.insert(command, 'note')
      table.insert(command, note)
    end
    local reply = redis.pcall(unpack(command))
    if not reply then
      verdict = 'gap'
      break
    elseif reply.err then
      if not string.find(reply.err, 'equal or smaller', 1, true) then return reply end
      verdict = 'taken'
      break
    elseif id == '1-0' or kind == 'done' or kind == 'error' then
      redis.call('EXPIRE', key, seconds)
    end
  end
  if verdict then
    table.insert(refused, key)
    table.insert(refused, verdict)
  end
end
return refused
"""
"""A first entry makes the stream. A later one never does: readers would see a gap. An answer's
entries are one argument, four lines each: a client spends on every argument what it spends on a
hundred letters, and no type and no JSON holds a line break."""

UNREACHABLE = (RedisError, OSError)
"""What a call raises where Valkey is down, frozen, loading or full."""


class Refused(Enum):
    """Why an entry was not stored: for want of the earlier ones (`GAP`), or because one with
    this number stands there already (`TAKEN`)."""

    GAP = "gap"
    TAKEN = "taken"


class Store:
    """Valkey, for one event loop. Every method may raise what `UNREACHABLE` names."""

    def __init__(self) -> None:
        self._redis: Any = Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self._append = self._redis.register_script(_APPEND)

    async def append(
        self, batch: Sequence[tuple[uuid.UUID, Sequence[Entry]]]
    ) -> dict[uuid.UUID, Refused]:
        """Appends the entries of many answers in one round trip. Gives the answers one of whose
        entries was refused: of those the ones before it are stored, of all others all."""
        keys = [_key(answer_id) for answer_id, _entries in batch]
        arguments: list[bytes | int] = [STREAM_SECONDS]
        arguments += ["".join(map(_lines, entries)).encode() for _answer_id, entries in batch]
        refused = await self._append(keys=keys, args=arguments)
        pairs = zip(refused[::2], refused[1::2], strict=True)
        return {_answer_id(key): Refused(verdict.decode()) for key, verdict in pairs}

    async def read(self, answer_id: uuid.UUID) -> list[Entry]:
        """All entries of an answer; none where its stream is unknown or has expired."""
        return _entries(await self._redis.xrange(_key(answer_id)))

    async def last(self, answer_id: uuid.UUID) -> Entry | None:
        """The newest entry of an answer."""
        newest = _entries(await self._redis.xrevrange(_key(answer_id), count=1))
        return newest[0] if newest else None

    async def read_new(self, cursors: Mapping[uuid.UUID, int]) -> dict[uuid.UUID, list[Entry]]:
        """The entries that follow each answer's cursor; waits a moment where there are none."""
        streams = {_key(answer_id): f"{seq}-0" for answer_id, seq in cursors.items()}
        replies = await self._redis.xread(streams, block=round(TAIL_SECONDS * 1000))
        pairs = replies.items() if isinstance(replies, dict) else replies
        return {_answer_id(key): _entries(rows) for key, rows in pairs}

    async def request_stop(self, answer_id: uuid.UUID) -> None:
        """Asks whichever process runs the turn to stop it."""
        await self._redis.set(_stop_key(answer_id), "1", ex=STOP_SECONDS)

    async def stops_requested(self, answer_ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
        """Which of these answers somebody asked to stop."""
        return await self._flagged(answer_ids, _stop_key)

    async def say_alive(self, answer_ids: Iterable[uuid.UUID], seconds: int) -> None:
        """Says that somebody works on these answers; to be said again within `seconds`."""
        pipeline = self._redis.pipeline(transaction=False)
        for answer_id in answer_ids:
            pipeline.set(_alive_key(answer_id), "1", ex=seconds)
        await pipeline.execute()

    async def alive(self, answer_ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
        """Which of these answers somebody works on."""
        return await self._flagged(answer_ids, _alive_key)

    async def forget(self, answer_ids: Iterable[uuid.UUID]) -> None:
        """Deletes the streams of answers, and has their turns stopped wherever they run."""
        for answer_id in answer_ids:
            await self._redis.delete(_key(answer_id))
            await self.request_stop(answer_id)

    async def ping(self) -> None:
        await self._redis.ping()

    async def aclose(self) -> None:
        await self._redis.aclose()

    async def _flagged(
        self, answer_ids: Iterable[uuid.UUID], key: Callable[[uuid.UUID], str]
    ) -> set[uuid.UUID]:
        asked = list(answer_ids)
        flags = await self._redis.mget([key(answer_id) for answer_id in asked]) if asked else []
        return {answer_id for answer_id, flag in zip(asked, flags, strict=True) if flag}


@lru_cache(maxsize=1024)
def _key(answer_id: uuid.UUID) -> bytes:
    """As bytes, which the client takes as they are: this is asked for at every flush."""
    return f"answer:{answer_id}:events".encode()


def _answer_id(key: bytes) -> uuid.UUID:
    return uuid.UUID(key.decode().split(":")[1])


def _alive_key(answer_id: uuid.UUID) -> str:
    return f"answer:{answer_id}:alive"


def _stop_key(answer_id: uuid.UUID) -> str:
    return f"answer:{answer_id}:stop"


def _lines(entry: Entry) -> str:
    return f"{entry.seq}-0\n{entry.type}\n{entry.body}\n{entry.note}\n"


def _entries(rows: Iterable[tuple[bytes, Mapping[bytes, bytes]]]) -> list[Entry]:
    return [_entry(identifier, fields) for identifier, fields in rows]


def _entry(identifier: bytes, fields: Mapping[bytes, bytes]) -> Entry:
    seq = int(identifier.partition(b"-")[0])
    note = fields.get(b"note", b"").decode()
    kind, body = next(item for item in fields.items() if item[0] != b"note")
    return Entry(seq, kind.decode(), body.decode(), note)
