from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ArticlesConfig(AppConfig):
    name = "articles"
    verbose_name = _("Help articles")

    def ready(self) -> None:
        from articles import checks
        from helpcenter import health

        health.register("index", checks.check_readiness)
