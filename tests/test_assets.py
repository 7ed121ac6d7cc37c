"""Collected assets: served whole, cached by their names, on both paths through Django."""

from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.test import AsyncRequestFactory, RequestFactory
from pytest_django.fixtures import Settings

from helpcenter.assets import AssetsMiddleware

STYLE = "body { color: black }"


@pytest.fixture(autouse=True)
def assets(settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    (tmp_path / "site.css").write_text(STYLE)


def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("a page", status=404)


async def async_page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("a page", status=404)


def get(path: str, **headers: str) -> HttpResponse:
    response = AssetsMiddleware(page)(RequestFactory().get(path, headers=headers))
    assert isinstance(response, HttpResponse)
    return response


def async_get(path: str) -> HttpResponse:
    async def body() -> object:
        answer = AssetsMiddleware(async_page)(AsyncRequestFactory().get(path))
        assert not isinstance(answer, HttpResponse)
        return await answer  # type: ignore[misc]

    response = async_to_sync(body)()
    assert isinstance(response, HttpResponse)
    return response


def test_an_asset_is_served_whole() -> None:
    response = get("/static/site.css")
    assert response.status_code == 200
    assert response.content.decode() == STYLE
    assert response["Content-Type"] == 'text/css; charset="utf-8"'
    assert response["Content-Length"] == str(len(STYLE))


def test_an_unchanged_asset_is_not_sent_again() -> None:
    etag = get("/static/site.css")["ETag"]
    response = get("/static/site.css", if_none_match=etag)
    assert response.status_code == 304
    assert response.content == b""


def test_what_is_no_asset_goes_on_to_the_pages() -> None:
    assert get("/static/absent.css").content == b"a page"
    assert get("/elsewhere/").content == b"a page"


def test_the_asynchronous_path_serves_the_same() -> None:
    assert async_get("/static/site.css").content.decode() == STYLE
    assert async_get("/static/absent.css").content == b"a page"
    assert async_get("/elsewhere/").content == b"a page"
