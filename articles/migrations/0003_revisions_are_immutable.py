"""A published revision's content cannot be changed, not even past the ORM."""

from django.db import migrations

FORBID = """
CREATE FUNCTION articles_forbid_revision_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.article_id, NEW.number, NEW.title, NEW.summary, NEW.body, NEW.language,
        NEW.content_hash, NEW.created_at)
       IS DISTINCT FROM
       (OLD.article_id, OLD.number, OLD.title, OLD.summary, OLD.body, OLD.language,
        OLD.content_hash, OLD.created_at) THEN
        RAISE EXCEPTION 'a published revision cannot be changed';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER revision_is_immutable BEFORE UPDATE ON articles_articlerevision
FOR EACH ROW EXECUTE FUNCTION articles_forbid_revision_change();
"""

ALLOW = """
DROP TRIGGER revision_is_immutable ON articles_articlerevision;
DROP FUNCTION articles_forbid_revision_change();
"""


class Migration(migrations.Migration):
    dependencies = [("articles", "0002_initial")]
    operations = [migrations.RunSQL(FORBID, ALLOW)]
