import re
from typing import Any

from django.db import migrations, models

_PICTURE = re.compile(r"/media/articles/[\w.-]+")


def find_pictures(apps: Any, schema_editor: Any) -> None:
    """Texts that went live before links were kept have no rows, and their pictures need some."""
    articles = apps.get_model("articles", "Article").objects
    links = apps.get_model("articles", "ArticleLink").objects
    old = articles.filter(
        links__isnull=True, live_revision__body__contains="/media/articles/"
    ).values_list("pk", "live_revision__body")
    for article_id, body in old.iterator(chunk_size=500):
        links.bulk_create(
            links.model(article_id=article_id, address=address, path=address)
            for address in dict.fromkeys(_PICTURE.findall(body))
        )


class Migration(migrations.Migration):
    dependencies = [
        ("articles", "0011_names_that_read_right"),
    ]

    operations = [
        migrations.AlterField(
            model_name="articlelink",
            name="path",
            field=models.CharField(db_index=True, max_length=500),
        ),
        migrations.RunPython(find_pictures, migrations.RunPython.noop, elidable=True),
    ]
