"""Celery: what runs outside of requests. `celery -A helpcenter worker` finds the app here."""

import os
import warnings

from celery import Celery
from celery.exceptions import SecurityWarning

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "helpcenter.settings")

app = Celery("helpcenter")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# As root, with JSON alone accepted, this is about tidiness, and it would be repeated at each start.
warnings.filterwarnings("ignore", "You're running the worker with superuser", SecurityWarning)
