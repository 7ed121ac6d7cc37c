"""The addresses of the chat: its page, its API and its socket."""

from __future__ import annotations

from django.urls import path

from assistant import api, gaps_api, pages, usage_api, views
from assistant.consumers import ChatConsumer

app_name = "assistant"

# Ids are taken as any text: one that cannot be an id is answered as an unknown one.
urlpatterns = [
    path("chat/", pages.chat, name="chat"),
    path("api/v1/answers/", views.answers, name="answers"),
    path("api/v1/answers/<str:answer_id>/", views.answer, name="answer"),
    path("api/v1/answers/<str:answer_id>/events/", views.answer_events, name="answer-events"),
    path("api/v1/answers/<str:answer_id>/stop/", views.answer_stop, name="answer-stop"),
    path(
        "api/v1/answers/<str:answer_id>/feedback/",
        api.AnswerFeedbackView.as_view(),
        name="answer-feedback",
    ),
    path(
        "api/v1/answers/<str:answer_id>/escalate/",
        api.EscalationView.as_view(),
        name="answer-escalate",
    ),
    path("api/v1/manage/gaps/", gaps_api.GapsView.as_view(), name="gaps"),
    path("api/v1/manage/gaps/<int:topic_id>/", gaps_api.GapView.as_view(), name="gap"),
    path("api/v1/manage/usage/", usage_api.UsageView.as_view(), name="usage"),
    path("api/v1/conversations/", api.ConversationList.as_view(), name="conversations"),
    path(
        "api/v1/conversations/<str:conversation_id>/",
        api.ConversationDetail.as_view(),
        name="conversation",
    ),
]

websocket_urlpatterns = [path("ws/v1/chat/", ChatConsumer.as_asgi())]
