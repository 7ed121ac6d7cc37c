"""What makes a stream resumable: every event of an answer is appended to a log, then delivered.

`EventLog` is the process's view of it. In Valkey each answer has a stream that any process
can read; in memory, whoever follows an answer shares one `Feed`. The database is not
known here: where the log has nothing (`LostError`), `assistant.chat` asks it.
"""

from assistant.eventlog.feed import Entry, LostError
from assistant.eventlog.log import EventLog
from assistant.eventlog.notes import Note
from assistant.eventlog.store import UNREACHABLE
from assistant.eventlog.writing import Writer, encoded

__all__ = ["UNREACHABLE", "Entry", "EventLog", "LostError", "Note", "Writer", "encoded"]
