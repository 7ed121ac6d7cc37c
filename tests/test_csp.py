"""The Content-Security-Policy: on every page, with a nonce of its own, and the admin under it."""

import re

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client, RequestFactory
from pytest_django.fixtures import Settings

from helpcenter import csp


def directives(policy: str) -> dict[str, str]:
    return dict(part.split(" ", 1) for part in policy.split("; "))


def test_nothing_is_allowed_that_is_not_listed() -> None:
    assert directives(csp.policy("n0nce")) == {
        "default-src": "'none'",
        "script-src": "'self' 'nonce-n0nce'",
        "style-src": "'self' 'nonce-n0nce'",
        "img-src": "'self'",
        "font-src": "'self'",
        "connect-src": "'self'",
        "manifest-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }


def test_hosts_of_images_are_those_of_the_settings(settings: Settings) -> None:
    settings.IMAGE_HOSTS = ["images.example.com"]
    assert directives(csp.policy("n"))["img-src"] == "'self' images.example.com"


def test_each_response_has_its_own_nonce_and_the_request_knows_it() -> None:
    seen: list[str] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request.csp_nonce)  # type: ignore[attr-defined]
        return HttpResponse()

    middleware = csp.ContentSecurityPolicyMiddleware(view)
    policies = []
    for _ in range(2):
        response = middleware(RequestFactory().get("/"))
        assert isinstance(response, HttpResponse)
        policies.append(response[csp.HEADER])
    assert seen[0] != seen[1]
    assert policies == [csp.policy(nonce) for nonce in seen]


def test_a_view_may_set_another_policy() -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(headers={csp.HEADER: "frame-ancestors *"})

    response = csp.ContentSecurityPolicyMiddleware(view)(RequestFactory().get("/"))
    assert isinstance(response, HttpResponse)
    assert response[csp.HEADER] == "frame-ancestors *"


def test_a_304_leaves_the_policy_of_the_kept_copy_alone() -> None:
    middleware = csp.ContentSecurityPolicyMiddleware(lambda request: HttpResponse(status=304))
    response = middleware(RequestFactory().get("/"))
    assert isinstance(response, HttpResponse)
    assert csp.HEADER not in response


@pytest.mark.parametrize("path", ["/categories/", "/nowhere/", "/admin/login/"])
def test_pages_errors_and_the_admin_carry_it(client: Client, db: None, path: str) -> None:
    assert client.get(path)[csp.HEADER].startswith("default-src 'none'; ")


def test_it_is_there_on_the_asynchronous_path() -> None:
    async def body() -> None:
        response = await AsyncClient().get("/robots.txt")
        assert response[csp.HEADER].startswith("default-src 'none'; ")

    async_to_sync(body)()


@pytest.mark.parametrize("path", ["/admin/", "/admin/auth/user/add/", "/admin/auth/user/"])
def test_the_admin_holds_no_inline_script_or_style(client: Client, staff: User, path: str) -> None:
    client.force_login(staff)
    page = client.get(path).content.decode()
    scripts = re.findall(r"<script\b([^>]*)>", page)
    assert scripts
    assert all("src=" in script or "application/json" in script for script in scripts)
    assert not re.search(r"<style\b|\sstyle=|\son[a-z]+=|javascript:", page)
