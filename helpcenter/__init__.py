"""The platform: settings, servers, processes, and what every page shares."""

from helpcenter.celery import app as celery_app

__all__ = ["celery_app"]
