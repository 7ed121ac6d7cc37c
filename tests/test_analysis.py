"""Text to search terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.terms.analysis import (
    LONGEST_TERM,
    base_language,
    query_terms,
    tokens,
    without_accents,
)


def terms_of(text: str, language: str = "en") -> set[str]:
    return {term for token in tokens(text, language) for term in token.terms}


def finds(query: str, text: str, language: str = "en") -> bool:
    """Whether every word of the query has a term in the text."""
    words = query_terms(query, language)
    return bool(words) and all(terms_of(text, language) & set(word) for word in words)


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        ("reset passwords", "Resetting your password", "en"),
        ("PASSWORD", "password", "en"),
        ("ｐａｓｓｗｏｒｄ", "password", "en"),
        ("rechnungen", "Die Rechnung", "de"),
        ("zurücksetzen", "Passwort zuru\u0308cksetzen", "de"),
        ("zurucksetzen", "Passwort zurücksetzen", "de"),
        ("strasse", "Straße", "de"),
        ("reinitialiser", "Réinitialiser le mot de passe", "fr"),
        ("RE\u0301INITIALISER", "Réinitialiser le mot de passe", "fr"),
        ("abonnement", "l'abonnement", "fr"),
        ("configurações", "A configuração", "pt"),
        ("configuracoes", "As configurações", "pt"),
        ("пароли", "Ваш пароль", "ru"),
        ("еще", "ещё", "bg"),
        ("lodz", "Łódź", "sk"),
        ("账单", "您可以在账单页面下载电子发票", "zh"),
        ("电子发票", "您可以在账单页面下载电子发票", "zh"),
        ("账单", "您可以在账单页面下载电子发票", "en"),
        ("ガイド", "設定ｶﾞｲﾄﾞ", "ja"),
        ("비밀번호", "비밀번호를 재설정", "ko"),
        ("รหัสผ่าน", "รีเซ็ตรหัสผ่าน", "th"),
        ("पासवर्ड", "अपना पासवर्ड बदलें", "hi"),
        ("مرور", "كَلِمَةُ المُرُور", "ar"),
        ("E-1042", "Error E-1042 means", "en"),
        ("e1042", "Error E-1042 means", "en"),
        ("1042", "Error E-1042 means", "en"),
        ("api.v2", "call api.v2 with", "en"),
        ("v2", "call api.v2 with", "en"),
        ("foo_bar", "the foo-bar option", "en"),
        ("signin", "the sign-in page", "en"),
        ("c++", "written in C++", "en"),
        ("C#", "or in c#.", "en"),
        ("user's", "all users", "en"),
        ("login", "See the account.Login works", "en"),
    ],
)
def test_a_query_finds_the_word_however_it_is_written(query: str, text: str, language: str) -> None:
    assert finds(query, text, language)


def test_a_compound_is_found_written_as_one_word() -> None:
    assert terms_of("your email") & {term for word in query_terms("e-mails", "en") for term in word}


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        ("c", "written in C++", "en"),
        ("й", "и", "ru"),
        ("ガス", "カス", "ja"),
        ("E-1042", "E-1043", "en"),
    ],
)
def test_different_words_stay_different(query: str, text: str, language: str) -> None:
    assert not finds(query, text, language)


@pytest.mark.parametrize(
    "query",
    ["how do I", "on", "the who", "IT", "I can't", "I cant", "I don’t", "", " ", "?!", "\0"],
)
def test_a_query_without_a_word_that_says_anything_has_no_terms(query: str) -> None:
    assert query_terms(query, "en") == []


def test_a_language_without_lists_keeps_its_words_as_they_are() -> None:
    assert query_terms("the passwords", "xx") == [["the"], ["passwords"]]


def test_a_compound_keeps_its_stop_words_only_where_it_needs_them() -> None:
    assert query_terms("sign-in", "en") == [["sign", "signin"]]
    assert query_terms("AT&T", "en") == [["at", "att"], ["t"]]


def test_a_code_and_a_number_are_not_stemmed() -> None:
    assert query_terms("v2s", "en") == [["v2s"]]


def test_places_count_the_words_that_are_kept() -> None:
    found = tokens("Reset the password of an account", "en")
    assert [(token.position, token.terms[0]) for token in found] == [
        (1, "reset"),
        (2, "password"),
        (3, "account"),
    ]


def test_a_regional_language_is_its_base_language() -> None:
    assert [base_language(code) for code in ("pt-BR", "zh_Hans", " EN ", "de")] == [
        "pt",
        "zh",
        "en",
        "de",
    ]


def test_accents_that_make_another_letter_stay() -> None:
    assert without_accents("й") == "й"
    assert without_accents("が") == "が"
    assert without_accents("한") == "한"
    assert without_accents("ñandú") == "nandu"


@given(st.text(max_size=200), st.sampled_from(["en", "fr", "zh", "th", "ru", "xx"]))
def test_terms_are_short_and_can_stand_in_a_tsvector(text: str, language: str) -> None:
    for term in terms_of(text, language):
        assert 0 < len(term) <= 2 * LONGEST_TERM
        assert not set(term) & set("'\\:\0\ud800 \n")


@given(st.text(max_size=200), st.sampled_from(["en", "de", "fr", "pt", "zh", "ar"]))
def test_a_text_is_found_by_itself(text: str, language: str) -> None:
    known = terms_of(text, language)
    assert all(set(word) & known for word in query_terms(text, language))


def test_a_long_word_is_cut_alike_on_both_sides() -> None:
    assert finds("x" * 5000, "x" * 5000)


@pytest.mark.parametrize("text", ["a-" * 50_000, "'" * 100_000, "账" * 100_000, "e\u0301" * 50_000])
def test_time_is_linear_in_the_length_of_the_text(text: str) -> None:
    assert len(tokens(text, "en")) <= len(text)
