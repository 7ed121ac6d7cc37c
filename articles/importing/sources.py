"""Where an import reads from: a folder, or a .zip that is never unpacked.

A source lists its files by their path with `/`, relative to its root, and reads
one at a time up to a limit. What must not be read is refused by itself, with the
reason; the rest stays available.
"""

from __future__ import annotations

import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from articles.importing.report import CannotImportError

MAX_FILES = 20_000
MAX_FILE_BYTES = 20 * 1024 * 1024
MAX_TOTAL_BYTES = 1024 * 1024 * 1024
MAX_RATIO = 200
RATIO_FLOOR_BYTES = 1024 * 1024
"""A member that unpacks to less may be packed as tightly as it likes."""

_NOT_CONTENT = frozenset({"node_modules", "__MACOSX"})
_UNPACKING_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


class Source:
    """The files of an import.

    `refused` maps a path, or an archive's entry, to the reason it is not among
    `paths`. `read` raises `CannotImportError` for a file that is too large or broken.
    """

    def __init__(self) -> None:
        self.refused: dict[str, str] = {}
        self._readers: dict[str, Callable[[], bytes]] = {}

    @property
    def paths(self) -> list[str]:
        return sorted(self._readers)

    def __contains__(self, path: str) -> bool:
        return path in self._readers

    def read(self, path: str) -> bytes:
        return self._readers[path]()

    def close(self) -> None:
        """Gives back what the source holds open."""


def open_source(path: Path) -> Source:
    """The source at `path`. Raises `CannotImportError` when it is neither a folder nor a .zip."""
    if path.is_dir():
        return Folder(path)
    if not path.exists():
        raise CannotImportError(f"{path} does not exist")
    if not zipfile.is_zipfile(path):
        raise CannotImportError(f"{path} is neither a folder nor a .zip file")
    return Archive(path)


class Folder(Source):
    """The regular files below a folder. A symbolic link may not lead out of it."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root.resolve()
        for folder, folders, files in os.walk(self._root):
            folders[:] = [name for name in folders if _is_content(name)]
            for name in files:
                self._add(Path(folder) / name)
        if len(self._readers) > MAX_FILES:
            raise CannotImportError(f"more than {MAX_FILES} files")

    def _add(self, file: Path) -> None:
        name = file.relative_to(self._root).as_posix()
        if not _is_content(file.name):
            return
        if not _is_text(name):
            self.refused[name.encode(errors="replace").decode()] = "its name is not valid UTF-8"
        elif not file.resolve().is_relative_to(self._root):
            self.refused[name] = "a symbolic link that leads out of the folder"
        elif not file.is_file():
            self.refused[name] = "not a regular file"
        else:
            self._readers[name] = lambda: _read_file(file)


class Archive(Source):
    """The members of a .zip file, each checked before and while it is read."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise CannotImportError(f"{path} cannot be read: {error}") from error
        self._left = MAX_TOTAL_BYTES
        members = {name: info for info in self._members() if (name := self._accept(info))}
        root = _common_root(list(members))
        for name, info in members.items():
            self._readers[name.removeprefix(root)] = self._reader(info)

    def close(self) -> None:
        self._zip.close()

    def _members(self) -> list[zipfile.ZipInfo]:
        members = [info for info in self._zip.infolist() if not info.is_dir()]
        if len(members) > MAX_FILES:
            raise CannotImportError(f"more than {MAX_FILES} files")
        return members

    def _accept(self, info: zipfile.ZipInfo) -> str:
        """The path under which a member is read; empty for one that is refused or no content."""
        name = info.filename
        reason = _refusal(info)
        if reason:
            self.refused[name] = reason
            return ""
        return name if all(_is_content(part) for part in PurePosixPath(name).parts) else ""

    def _reader(self, info: zipfile.ZipInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            try:
                with self._zip.open(info) as member:
                    data = member.read(MAX_FILE_BYTES + 1)
            except _UNPACKING_ERRORS as error:
                raise CannotImportError(f"cannot be unpacked: {error}") from error
            self._left -= len(data)
            if self._left < 0:
                raise CannotImportError(
                    "the archive holds too much: its total size is over the limit"
                )
            return _within_limit(data)

        return read


def _refusal(info: zipfile.ZipInfo) -> str:
    """Why a member must not be read, or nothing. The sizes are those that the archive claims."""
    name = info.filename
    parts = PurePosixPath(name).parts
    if "\\" in name or name.startswith("/") or (len(name) > 1 and name[1] == ":"):
        return "an absolute path"
    if ".." in parts or not parts:
        return "a path that leads out of the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a symbolic link"
    if info.flag_bits & 0x1:
        return "encrypted"
    if info.file_size > MAX_FILE_BYTES:
        return f"larger than {MAX_FILE_BYTES // 1024 // 1024} MB"
    if info.file_size > max(RATIO_FLOOR_BYTES, info.compress_size * MAX_RATIO):
        return f"unpacks to more than {MAX_RATIO} times its size"
    return ""


def _common_root(names: list[str]) -> str:
    """The one folder that holds everything, as in the archives that code hosts make."""
    first = {name.split("/", 1)[0] if "/" in name else "" for name in names}
    return f"{first.pop()}/" if len(first) == 1 and "" not in first else ""


def _is_content(name: str) -> bool:
    return not name.startswith(".") and name not in _NOT_CONTENT


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_file(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return _within_limit(stream.read(MAX_FILE_BYTES + 1))
    except OSError as error:
        raise CannotImportError(f"cannot be read: {error.strerror}") from error


def _within_limit(data: bytes) -> bytes:
    if len(data) > MAX_FILE_BYTES:
        raise CannotImportError(f"larger than {MAX_FILE_BYTES // 1024 // 1024} MB")
    return data
