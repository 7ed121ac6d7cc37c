"""Changes to working copies by code: values that were checked, one transaction each.

Goes live through `articles.publishing` only. What was changed stands in the admin's history
as well, with the name of who or what did it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.db import transaction

from articles import publishing
from articles.models import Article, Category, Status

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def create(values: Mapping[str, Any], author: User, via: str) -> Article:
    """A new draft. `values` are fields of `Article`."""
    article = Article(author=author, **values)
    article.save()
    note(article, author, ADDITION, via)
    return article


@transaction.atomic
def change(article: Article, values: Mapping[str, Any], editor: User, via: str) -> bool:
    """Whether `values` said anything new; nothing is saved where they did not.

    A slug that changes leaves a redirect. The text of a published article stays as it is on
    the site until it is published; where it stands and who reads it changes at once.
    """
    changed = [name for name, value in values.items() if getattr(article, name) != value]
    if not changed:
        return False
    if "slug" in changed:
        publishing.change_slug(article, values["slug"])
    for name in changed:
        setattr(article, name, values[name])
    article.save()
    if article.status == Status.PUBLISHED:
        publishing.refresh(article)
    note(article, editor, CHANGE, f"{via}: {', '.join(changed)}")
    return True


@transaction.atomic
def publish(article: Article, editor: User, via: str) -> bool:
    """Makes the working copy live; whether it was not already."""
    if article.status == Status.PUBLISHED and not article.has_unpublished_changes:
        return False
    publishing.publish(article, editor)
    note(article, editor, CHANGE, f"{via}: published")
    return True


@transaction.atomic
def withdraw(article: Article, status: Status, editor: User, via: str) -> bool:
    """Takes the article off the site as a draft or archived; whether it was not already."""
    if article.status == status:
        return False
    publishing.withdraw(article, status)
    note(article, editor, CHANGE, f"{via}: {status}")
    return True


@transaction.atomic
def delete(article: Article, editor: User, via: str) -> None:
    """Deletes it for good, with its revisions. Answers that cite it keep what they said."""
    note(article, editor, DELETION, via)
    publishing.withdraw(article)
    article.delete()


def note(row: Article | Category, editor: User, action: int, message: str) -> None:
    """An entry in the row's history in the admin."""
    LogEntry.objects.log_actions(editor.pk, [row], action, message, single_object=True)
