"""The addresses of the chat."""

from __future__ import annotations

from django.urls import path

from assistant import pages

app_name = "assistant"

urlpatterns = [
    path("chat/", pages.chat, name="chat"),
]
