"""A passage's category and visibility are its article's, however that is changed."""

from django.db import migrations

FOLLOW = """
CREATE FUNCTION articles_passages_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE articles_passage SET category_id = NEW.category_id, visibility = NEW.visibility
    WHERE article_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER passages_follow_article
AFTER UPDATE OF category_id, visibility ON articles_article
FOR EACH ROW WHEN ((OLD.category_id, OLD.visibility) IS DISTINCT FROM (NEW.category_id, NEW.visibility))
EXECUTE FUNCTION articles_passages_follow();
"""

LEAVE = """
DROP TRIGGER passages_follow_article ON articles_article;
DROP FUNCTION articles_passages_follow();
"""


class Migration(migrations.Migration):
    dependencies = [("articles", "0003_revisions_are_immutable")]
    operations = [migrations.RunSQL(FOLLOW, LEAVE)]
