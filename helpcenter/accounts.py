"""Signing readers in and out, outside the admin.

Django's own views do the work; accounts are made in the admin. A page that offers
to sign in says where to come back to, and only addresses of this site are followed.
"""

from __future__ import annotations

from django.contrib.auth import views
from django.urls import path

urlpatterns = [
    path(
        "sign-in/",
        views.LoginView.as_view(
            template_name="account/sign_in.html", redirect_authenticated_user=True
        ),
        name="sign-in",
    ),
    path("sign-out/", views.LogoutView.as_view(), name="sign-out"),
]
