"""References of documents in conversations; those given out so far are taken over.

The earliest turn decides: where two turns that ran at once gave the same number, the first
one's document keeps it.
"""

import django.db.models.deletion
from django.db import migrations, models

TAKE_OVER = """
INSERT INTO assistant_conversationreference (conversation_id, document_id, ref)
SELECT conversation_id, document_id, ref FROM (
    SELECT DISTINCT ON (answer.conversation_id, document.document_id)
        answer.conversation_id, document.document_id, document.ref, answer.turn
    FROM assistant_answerdocument AS document
    JOIN assistant_answer AS answer ON answer.id = document.answer_id
    ORDER BY answer.conversation_id, document.document_id, answer.turn
) AS first_given
ORDER BY conversation_id, turn, ref
ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("assistant", "0003_citation_support"),
    ]

    operations = [
        migrations.CreateModel(
            name="ConversationReference",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("document_id", models.CharField(max_length=40)),
                ("ref", models.PositiveIntegerField(verbose_name="reference")),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="references",
                        to="assistant.conversation",
                    ),
                ),
            ],
            options={
                "verbose_name": "reference in a conversation",
                "verbose_name_plural": "references in a conversation",
                "ordering": ["conversation_id", "ref"],
                "constraints": [
                    models.UniqueConstraint(fields=("conversation", "ref"), name="reference_once"),
                    models.UniqueConstraint(
                        fields=("conversation", "document_id"), name="one_reference_per_document"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ref__gte", 1)), name="references_begin_at_1"
                    ),
                ],
            },
        ),
        migrations.RunSQL(TAKE_OVER, migrations.RunSQL.noop),
    ]
