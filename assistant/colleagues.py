"""To whom work can be given: the accounts that may do it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet


def allowed_to(permission: str, *, or_is: int | None = None) -> QuerySet[User]:
    """Active colleagues with the permission, by name. `or_is`: whoever has the work already, who
    stays in sight with the permission or without."""
    may = User.objects.with_perm(
        permission, backend="django.contrib.auth.backends.ModelBackend"
    ).filter(is_staff=True)
    return User.objects.filter(Q(pk__in=may.values("pk")) | Q(pk=or_is)).order_by("username")
