"""Groups for those who work with the help center, each with what its work needs.

Idempotent, and gives only: permissions that a site took away or added stay as they are until
a later migration names them. A group of the same name that a site made itself gains what is
listed here.
"""

from typing import Any

from django.contrib.auth.management import create_permissions
from django.db import migrations

READ_CONVERSATIONS = [
    "assistant.view_answer",
    "assistant.view_conversation",
    "assistant.view_answerreview",
]
SUPPORT = [
    *READ_CONVERSATIONS,
    "assistant.add_answerreview",
    "assistant.change_answerreview",
    "assistant.view_gaptopic",
    "articles.view_article",
    "articles.view_category",
]
WRITERS = [
    "articles.add_article",
    "articles.change_article",
    "articles.publish_article",
    "articles.view_article",
    "articles.add_category",
    "articles.change_category",
    "articles.view_category",
    "articles.add_synonymgroup",
    "articles.change_synonymgroup",
    "articles.view_synonymgroup",
    "articles.view_searchquery",
    "assistant.view_gaptopic",
    "assistant.change_gaptopic",
    "assistant.view_gaprun",
]
EDITORS = [
    *WRITERS,
    *SUPPORT,
    "articles.delete_article",
    "articles.delete_category",
    "articles.delete_synonymgroup",
    "assistant.export_answer",
    "assistant.delete_gaptopic",
]
GROUPS = {"Support": SUPPORT, "Writers": WRITERS, "Editors": EDITORS}


def make_groups(apps: Any, schema_editor: Any) -> None:
    give(apps, GROUPS)


def give(apps: Any, groups: dict[str, list[str]]) -> None:
    """Gives groups permissions, making both where they are missing; later migrations call it.
    Permissions are made after all migrations otherwise: these are needed now."""
    for label in ("articles", "assistant"):
        config = apps.get_app_config(label)
        had_models = getattr(config, "models_module", None)
        config.models_module = True
        create_permissions(config, apps=apps, verbosity=0)
        config.models_module = had_models
    Group = apps.get_model("auth", "Group")
    Permission = apps.get_model("auth", "Permission")
    for name, wanted in groups.items():
        group, _created = Group.objects.get_or_create(name=name)
        for permission in dict.fromkeys(wanted):
            label, codename = permission.split(".")
            group.permissions.add(
                Permission.objects.get(content_type__app_label=label, codename=codename)
            )


class Migration(migrations.Migration):
    dependencies = [
        ("assistant", "0009_access_log_is_fixed"),
        ("articles", "0009_links_schedule_and_undo"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
