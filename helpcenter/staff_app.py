"""Django's admin with the site's own `StaffSite`. By itself: no model may be loaded yet here."""

from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    default_site = "helpcenter.staff_site.StaffSite"
