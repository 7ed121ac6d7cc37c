from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("articles", "0009_links_schedule_and_undo")]

    # In this order searches go on: building keeps only writers waiting, and dropping locks
    # readers out for as long as the transaction then takes to end.
    operations = [
        migrations.AddIndex(
            model_name="passage",
            index=models.Index(fields=["language", "category"], name="passage_language_category"),
        ),
        migrations.RemoveIndex(model_name="passage", name="articles_pa_languag_f4cc61_idx"),
    ]
