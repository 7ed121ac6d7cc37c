"""Reading environment variables: defaults, types, and refusals in one line."""

from pathlib import Path

import pytest

from helpcenter.environment import Environment, SettingError, read_env_file


def environment(**values: str) -> Environment:
    return Environment(values)


def test_an_absent_and_an_empty_variable_have_the_default() -> None:
    env = environment(EMPTY="  ")
    assert env.text("ABSENT", "a") == "a"
    assert env.text("EMPTY", "e") == "e"
    assert env.integer("EMPTY", 7) == 7
    assert env.boolean("EMPTY", True) is True
    assert env.items("EMPTY", ["x"]) == ["x"]
    assert env.choice("EMPTY", ["a", "b"], "b") == "b"
    assert env.url("EMPTY", ["http"]) == ""
    assert not env.is_set("EMPTY")


def test_values_are_read_by_their_type() -> None:
    env = environment(
        TEXT=" plain ", YES="On", NO="0", NUMBER="42", LIST="a, b,,c", ORIGINS="https://a.example"
    )
    assert env.text("TEXT") == "plain"
    assert env.boolean("YES", False) is True
    assert env.boolean("NO", True) is False
    assert env.integer("NUMBER", 0) == 42
    assert env.items("LIST") == ["a", "b", "c"]
    assert env.origins("ORIGINS") == ["https://a.example"]


def test_it_remembers_which_variables_were_read() -> None:
    env = environment()
    env.text("ONE")
    env.integer("TWO", 0)
    assert env.names == {"ONE", "TWO"}


@pytest.mark.parametrize("value", ["maybe", "2", "onn"])
def test_a_switch_refuses_what_is_neither_on_nor_off(value: str) -> None:
    with pytest.raises(SettingError, match="DEBUG: expected on or off"):
        environment(DEBUG=value).boolean("DEBUG", False)


@pytest.mark.parametrize("value", ["eighty", "0", "65536", "1.5", "１２", "9" * 20])
def test_a_number_has_to_be_whole_and_in_range(value: str) -> None:
    with pytest.raises(SettingError, match="PORT: expected a whole number from 1 to 65535"):
        environment(PORT=value).integer("PORT", 8000, minimum=1, maximum=65535)


def test_a_choice_names_what_may_be_chosen() -> None:
    with pytest.raises(SettingError, match=r"MODE: expected one of context, tools, not 'magic'"):
        environment(MODE="magic").choice("MODE", ["tools", "context"], "tools")


@pytest.mark.parametrize("value", ["10.0.0.1", "10.0.0.0/8, ::1", "fd00::/8", "2", "9"])
def test_proxies_are_addresses_networks_or_a_number(value: str) -> None:
    assert environment(PROXIES=value).proxies("PROXIES")


def test_no_proxy_is_none() -> None:
    assert environment(PROXIES="0").proxies("PROXIES") == []


@pytest.mark.parametrize(
    "value", ["10.0.0.1, proxy.example", "10", "-1", "1.5", "２", "2, 10.0.0.1", "2, 2"]
)
def test_what_is_neither_a_proxy_nor_a_number_of_them_is_refused(value: str) -> None:
    with pytest.raises(SettingError, match="PROXIES: expected IP addresses, networks"):
        environment(PROXIES=value).proxies("PROXIES")


@pytest.mark.parametrize("value", ["example.com", "https://a.example/path", "ftp://a.example", "*"])
def test_an_origin_is_a_scheme_and_a_host(value: str) -> None:
    with pytest.raises(SettingError, match="ORIGINS: expected origins"):
        environment(ORIGINS=value).origins("ORIGINS")


@pytest.mark.parametrize("value", ["mysql://u:secret@h/d", "http://[secret", "secret"])
def test_a_refused_url_is_not_shown_for_it_may_hold_a_password(value: str) -> None:
    with pytest.raises(SettingError) as refusal:
        environment(DATABASE_URL=value).url("DATABASE_URL", ["postgresql", "postgres"])
    assert str(refusal.value) == (
        "DATABASE_URL: expected a URL that starts with postgresql://, postgres://"
    )


def test_a_refusal_ends_the_process_with_one_line() -> None:
    error = SettingError("PORT", "in use")
    assert isinstance(error, SystemExit)
    assert error.code == "PORT: in use"


def test_an_env_file_holds_names_values_quotes_and_comments(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        '\ufeff# a comment\n\nPLAIN=value # said why\nexport QUOTED="a # b"\n'
        "SINGLE='x'\nEMPTY=\nURL=http://a.example/#part\nSPACED = 1\nQUOTE=\"\n",
        encoding="utf-8",
    )
    assert read_env_file(file) == {
        "PLAIN": "value",
        "QUOTED": "a # b",
        "SINGLE": "x",
        "EMPTY": "",
        "URL": "http://a.example/#part",
        "SPACED": "1",
        "QUOTE": '"',
    }


def test_a_line_of_an_env_file_that_says_nothing_is_refused_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("A=1\nwhat is this\n")
    with pytest.raises(SettingError, match=r"\.env, line 2: expected NAME=value"):
        read_env_file(file)


def test_the_environment_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ".env"
    file.write_text("FROM_FILE=file\nFROM_BOTH=file\n")
    monkeypatch.setenv("FROM_BOTH", "process")
    env = Environment.load(file)
    assert env.text("FROM_FILE") == "file"
    assert env.text("FROM_BOTH") == "process"


def test_without_a_file_there_is_only_the_environment(tmp_path: Path) -> None:
    assert read_env_file(tmp_path / ".env") == {}
