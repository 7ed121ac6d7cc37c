"""The site as an ASGI application: pages and API over HTTP, the chat's socket."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import WebsocketDenier
from django.core.asgi import get_asgi_application
from django.urls import re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "helpcenter.settings")

http = get_asgi_application()

from assistant.urls import websocket_urlpatterns  # noqa: E402, Django has to be set up first

sockets = URLRouter([*websocket_urlpatterns, re_path("", WebsocketDenier.as_asgi())])
application = ProtocolTypeRouter({"http": http, "websocket": sockets})
