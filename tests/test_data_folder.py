"""The data folder: private where it may be, its key generated once, closed parents refused."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpcenter import data_folder
from helpcenter.environment import SettingError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    data_folder.create(folder)
    assert mode(folder) == (0o711 if os.geteuid() == 0 else 0o700)


def test_a_folder_that_holds_something_keeps_its_mode(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "file").touch()
    folder.chmod(0o700)
    data_folder.create(folder)
    assert mode(folder) == 0o700


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match=r"HELPCENTER_DATA_DIR: .*file.*: Not a directory"):
        data_folder.create(tmp_path / "file" / "data")


def test_the_key_is_made_once_private_and_the_same_for_all(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: data_folder.secret_key(tmp_path / "data"), range(16)))
    assert len(keys) == 1
    assert mode(tmp_path / "data" / "secret_key") == 0o600
    assert [file.name for file in (tmp_path / "data").iterdir()] == ["secret_key"]


def test_a_closed_parent_is_refused_and_stays_closed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    data = home / "data"
    with pytest.raises(SettingError, match=f"as root .* the user pgserver, and {home} "):
        data_folder.refuse_closed(data.parents, data, "pgserver")
    assert mode(home) == 0o700


def test_open_parents_are_accepted(tmp_path: Path) -> None:
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o711)
    data_folder.refuse_closed([open_folder, open_folder / "absent"], open_folder, "pgserver")


def test_a_key_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret_key").mkdir()
    with pytest.raises(SettingError, match=r"HELPCENTER_DATA_DIR: .*secret_key: Is a directory"):
        data_folder.secret_key(tmp_path)
