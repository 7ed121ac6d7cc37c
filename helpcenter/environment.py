"""Reading the configuration from environment variables, strictly.

A variable that is absent or empty has its default. A value that makes no sense stops the start
with one line that names the variable: `SettingError` is a `SystemExit`, so that every process
(manage.py, the web server, a Celery worker) ends with that line and without a traceback.

A `.env` file in the project's folder is read as well; the real environment wins over it.
"""

import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)")
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class SettingError(SystemExit):
    """A variable's value cannot be used. Prints as one line and ends the process with status 1."""

    def __init__(self, name: str, problem: str) -> None:
        self.name = name
        super().__init__(f"{name}: {problem}")


def read_env_file(path: Path) -> dict[str, str]:
    """The variables of a `.env` file: `NAME=value` lines, `#` comments, values maybe in quotes.

    Nothing is expanded or executed. A file that is absent has none.
    """
    if not path.is_file():
        return {}
    values = {}
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise SettingError(f"{path.name}, line {number}", "expected NAME=value")
        values[match["name"]] = _unquoted(match["value"])
    return values


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return re.split(r"\s+#", value, maxsplit=1)[0].strip()


class Environment:
    """Typed, strict access to a mapping of variables. Remembers which names were asked for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.names: set[str] = set()

    @classmethod
    def load(cls, env_file: Path) -> "Environment":
        """The process's environment over the variables of `env_file`."""
        return cls({**read_env_file(env_file), **os.environ})

    def is_set(self, name: str) -> bool:
        return bool(self._raw(name))

    def text(self, name: str, default: str = "") -> str:
        return self._raw(name) or default

    def boolean(self, name: str, default: bool) -> bool:
        value = self._raw(name).lower()
        if not value:
            return default
        if value not in _TRUE | _FALSE:
            self._refuse(name, value, "expected on or off")
        return value in _TRUE

    def integer(
        self, name: str, default: int, minimum: int = 0, maximum: int = 2_147_483_647
    ) -> int:
        value = self._raw(name)
        if not value:
            return default
        if not re.fullmatch(r"[+-]?[0-9]{1,12}", value) or not minimum <= int(value) <= maximum:
            self._refuse(name, value, f"expected a whole number from {minimum} to {maximum}")
        return int(value)

    def rates(self, name: str) -> dict[str, tuple[Decimal, ...]]:
        """A list of `name=number/number` or `name=number/number/number`, none of them negative."""
        found = {}
        for item in self.items(name):
            key, _, numbers = item.rpartition("=")
            rates = [number.strip() for number in numbers.split("/")]
            if not key.strip() or len(rates) not in (2, 3) or not all(map(_is_decimal, rates)):
                self._refuse(name, item, "expected prices such as gpt-5-mini=0.25/2")
            found[key.strip()] = tuple(map(Decimal, rates))
        return found

    def choice(self, name: str, choices: Iterable[str], default: str) -> str:
        value = self._raw(name) or default
        allowed = sorted(choices)
        if value not in allowed:
            self._refuse(name, value, f"expected one of {', '.join(allowed)}")
        return value

    def items(self, name: str, default: Iterable[str] = ()) -> list[str]:
        """A list, separated by commas."""
        items = [item.strip() for item in self._raw(name).split(",")]
        return [item for item in items if item] or list(default)

    def proxies(self, name: str) -> list[str]:
        """A list of IP addresses and networks (`10.0.0.0/8`), or how many proxies there are: a
        whole number from 1 to 9, as the list's one item. 0 is an empty list."""
        items = self.items(name)
        if len(items) == 1 and re.fullmatch(r"[0-9]", items[0]):
            return [] if items == ["0"] else items
        for item in items:
            try:
                ipaddress.ip_network(item, strict=False)
            except ValueError:
                expected = "expected IP addresses, networks such as 10.0.0.0/8, or one number"
                self._refuse(name, item, f"{expected} from 0 to 9")
        return items

    def origins(self, name: str, default: Iterable[str] = ()) -> list[str]:
        """A list of origins: scheme, host and maybe a port, without a path."""
        items = self.items(name, default)
        for item in items:
            if not re.fullmatch(r"https?://[^/\s?#]+", item):
                self._refuse(name, item, "expected origins such as https://help.example.com")
        return items

    def url(self, name: str, schemes: Iterable[str], default: str = "") -> str:
        """A URL of one of these schemes. The message of a refusal never shows the value: it may
        hold a password."""
        value = self._raw(name) or default
        allowed = list(schemes)
        if value and _scheme(value) not in allowed:
            forms = ", ".join(f"{scheme}://" for scheme in allowed)
            raise SettingError(name, f"expected a URL that starts with {forms}")
        return value

    def _raw(self, name: str) -> str:
        self.names.add(name)
        return self._values.get(name, "").strip()

    @staticmethod
    def _refuse(name: str, value: str, expected: str) -> NoReturn:
        raise SettingError(name, f"{expected}, not {value!r}")


def _is_decimal(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) is not None


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""
