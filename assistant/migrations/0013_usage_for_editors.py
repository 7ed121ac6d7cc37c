"""Editors see usage by citation."""

from importlib import import_module
from typing import Any

from django.db import migrations

groups = import_module("assistant.migrations.0010_groups")


def give(apps: Any, schema_editor: Any) -> None:
    groups.give(apps, {"Editors": ["assistant.view_usage"]})


class Migration(migrations.Migration):
    dependencies = [("assistant", "0012_usage")]
    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
