"""Celery: what runs outside of requests. `celery -A helpcenter worker` finds the app here."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "helpcenter.settings")

app = Celery("helpcenter")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
