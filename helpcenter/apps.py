from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class HelpCenterConfig(AppConfig):
    name = "helpcenter"
    verbose_name = _("Help center")

    def ready(self) -> None:
        from helpcenter import checks  # noqa: F401 - registers them
        from helpcenter.metrics import REGISTRY
        from helpcenter.site_counts import SiteCollector

        REGISTRY.register(SiteCollector())
