from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assistant", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="answer",
            name="last_seq",
            field=models.PositiveIntegerField(
                default=0, help_text="The number of the last event in its stream."
            ),
        ),
    ]
