"""The data folder: what this installation keeps on disk.

    postgres/  valkey/    the embedded servers' data         run/       their sockets
    media/                uploaded and imported files        static/    collected assets
    secret_key            generated where none is set        *.lock     who uses the servers

An ordinary user's folder is private. As root, the database server runs as another user, who has
to be able to pass through (not to list) the folder, and whose own parts in it are private again.
"""

import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from helpcenter.environment import SettingError

VARIABLE = "HELPCENTER_DATA_DIR"
_ROOT_DEFAULT = Path("/var/lib/helpcenter")


def default_path(project: Path) -> Path:
    return _ROOT_DEFAULT if os.geteuid() == 0 else project / "var"


def create(path: Path) -> None:
    """Make the folder if it is missing. An existing folder keeps its mode, unless it is empty."""
    try:
        if path.is_dir() and any(path.iterdir()):
            return
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o711 if os.geteuid() == 0 else 0o700)
    except OSError as error:
        raise SettingError(VARIABLE, f"{error.filename}: {error.strerror}") from None


def secret_key(path: Path) -> str:
    """The key in the data folder, generated the first time. Processes that race agree on one."""
    create(path)
    file = path / "secret_key"
    try:
        if not file.exists():
            _publish(file, secrets.token_urlsafe(50))
        return file.read_text(encoding="ascii").strip()
    except OSError as error:
        raise SettingError(VARIABLE, f"{error.filename}: {error.strerror}") from None


def _publish(file: Path, content: str) -> None:
    """Write a private file so that it appears whole, and only if nobody else was first."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    draft.write_text("", encoding="ascii")
    draft.chmod(0o600)
    draft.write_text(content, encoding="ascii")
    try:
        os.link(draft, file)
    except FileExistsError:
        pass  # Another process was first: its key counts.
    finally:
        draft.unlink()


def refuse_closed(folders: Iterable[Path], path: Path, user: str) -> None:
    """Refuse `path` where one of `folders` keeps `user` out. Opens none: it may be a home."""
    for folder in folders:
        if folder.is_dir() and not folder.stat().st_mode & stat.S_IXOTH:
            mode = stat.S_IMODE(folder.stat().st_mode)
            raise SettingError(
                VARIABLE,
                f"as root the database runs as the user {user}, and {folder} (mode {mode:03o}) "
                f"does not let it through to {path}; choose a folder below open ones, such as "
                f"{_ROOT_DEFAULT}",
            )
