"""A record of a look cannot be changed, nor deleted but by the retention, not even past the ORM.

The retention says who it is by a setting of its transaction, and even then nothing goes that is
younger than 30 days, the least that `ACCESS_LOG_DAYS` may be.
"""

from django.db import migrations

FORBID = """
CREATE FUNCTION assistant_forbid_access_record_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE'
       AND current_setting('helpcenter.retention', true) = 'on'
       AND OLD.at < now() - interval '30 days'
    THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'a record of the access log cannot be changed or deleted';
END
$$;
CREATE TRIGGER access_record_is_fixed BEFORE UPDATE OR DELETE ON assistant_accessrecord
FOR EACH ROW EXECUTE FUNCTION assistant_forbid_access_record_change();
"""

ALLOW = """
DROP TRIGGER access_record_is_fixed ON assistant_accessrecord;
DROP FUNCTION assistant_forbid_access_record_change();
"""


class Migration(migrations.Migration):
    dependencies = [("assistant", "0008_access_log")]
    operations = [migrations.RunSQL(FORBID, ALLOW)]
