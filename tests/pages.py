"""Pages of the site as a browser's parser sees them."""

from __future__ import annotations

from typing import Any

from django.test import Client

from tests.dom import Element, parse

JSON = "application/json"


def page(client: Client, address: str) -> Element:
    """The page at `address`, which must answer with 200."""
    response = client.get(address)
    assert response.status_code == 200
    return parsed(response)


def parsed(response: Any) -> Element:
    return parse(response.content.decode())


def with_class(root: Element, name: str) -> list[Element]:
    """The elements inside that have this class."""
    return [
        element for element in root.all() if name in element.attributes.get("class", "").split()
    ]


def texts(root: Element, *tags: str) -> list[str]:
    """What is written in the elements with these tags, white space folded."""
    return [" ".join(element.text.split()) for element in root.all(*tags)]
