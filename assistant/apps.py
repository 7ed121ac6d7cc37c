from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AssistantConfig(AppConfig):
    name = "assistant"
    verbose_name = _("Assistant")

    def ready(self) -> None:
        from assistant import adoption, checks, gaps  # noqa: F401, they register themselves
        from assistant.figures import usage  # noqa: F401
        from assistant.gaps import checking  # noqa: F401
        from assistant.providers import standing  # noqa: F401
