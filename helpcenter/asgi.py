"""The site as an ASGI application: pages and API over HTTP, the chat's socket."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.urls import re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "helpcenter.settings")

http = get_asgi_application()

from assistant.providers import select_model  # noqa: E402
from assistant.urls import websocket_urlpatterns  # noqa: E402, Django has to be set up first

sockets = URLRouter([*websocket_urlpatterns, re_path("", WebsocketDenier.as_asgi())])
application = ProtocolTypeRouter({"http": http, "websocket": sockets})


def load_model() -> None:
    """Imports the client of the model's provider, if there is one, before the server starts. It
    takes a second, for which the first visitor who asks would wait; and what is there by then is
    never looked through for garbage."""
    select_model(settings)
