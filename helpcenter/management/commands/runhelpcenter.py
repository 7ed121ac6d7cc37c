"""`manage.py runhelpcenter`: set the site up and serve it until Ctrl-C. What `make run` runs."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from helpcenter import first_run
from helpcenter.embedded import configured_servers
from helpcenter.supervisor import Supervisor, claim_port, site_children, sole_site

WELCOME = f"""
  The first account: {{url}}/admin/
    user      {first_run.ADMIN}
    password  {{password}}
  The password is shown only now. `manage.py changepassword {first_run.ADMIN}` sets another.
"""


class Command(BaseCommand):
    help = "Set the site up and serve it, with its worker and schedule, until Ctrl-C."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        with configured_servers() as servers, sole_site(settings.DATA_DIR):
            claim_port(settings.HOST, settings.PORT)
            self._set_up()
            Supervisor(site_children(), servers).run()
        self.stdout.write("Stopped.")

    def _set_up(self) -> None:
        first_run.check_servers()
        first_run.migrate()
        first_run.collect_assets()
        first_run.load_demo()
        password = first_run.create_admin()
        if password:
            self.stdout.write(WELCOME.format(url=settings.SITE_URL, password=password))
        self.stdout.write(f"Serving {settings.SITE_URL}/ (Ctrl-C stops it)")
