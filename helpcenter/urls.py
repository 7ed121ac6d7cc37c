"""Which URLs the site has, beside those of `helpcenter.probes`."""

from django.contrib import admin
from django.urls import include, path

from articles.pages import pictures
from helpcenter import accounts, robots

handler400 = "helpcenter.errors.bad_request"
handler403 = "helpcenter.errors.permission_denied"
handler404 = "articles.pages.missing.page_not_found"
handler500 = "helpcenter.errors.server_error"

urlpatterns = [
    path("robots.txt", robots.robots_txt, name="robots-txt"),
    path("media/<path:path>", pictures.file, name="media"),
    path("admin/", admin.site.urls),
    *accounts.urlpatterns,
    path("", include("articles.urls")),
    path("", include("assistant.urls")),
]
