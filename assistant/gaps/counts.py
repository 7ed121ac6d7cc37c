"""Exact counts of topics, and how much each matters: one statement each, over all or some.

The impact is the number of askers of the last 30 days, times how much faster the topic grows
(the last seven days against the seven before, from a half to two), times one plus the share of
negative ratings among the rated answers. Days are periods of 24 hours, so a change of the clock
makes none longer.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import connection

_RECOUNT = """
UPDATE assistant_gaptopic t SET questions_count = c.questions, askers_count = c.askers,
    first_seen = c.first, last_seen = c.last
FROM (
    SELECT topic_id, count(*) AS questions, min(asked_at) AS first, max(asked_at) AS last,
        count(DISTINCT asker) FILTER (WHERE asker <> '') + count(*) FILTER (WHERE asker = '')
            AS askers
    FROM assistant_gapquestion WHERE topic_id = ANY(%s) GROUP BY topic_id
) c WHERE c.topic_id = t.id
"""
_MEASURE = """
WITH asked AS (
    SELECT q.topic_id,
        count(DISTINCT q.asker) FILTER (WHERE q.asker <> '' AND q.asked_at >= %(month)s)
            + count(*) FILTER (WHERE q.asker = '' AND q.asked_at >= %(month)s) AS recent,
        count(*) FILTER (WHERE q.asked_at >= %(week)s) AS week,
        count(*) FILTER (WHERE q.asked_at >= %(before)s AND q.asked_at < %(week)s) AS earlier,
        count(f.id) AS rated,
        count(f.id) FILTER (WHERE f.rating = 'negative') AS negative
    FROM assistant_gapquestion q
    LEFT JOIN assistant_answerfeedback f ON f.answer_id = q.answer_id
    GROUP BY q.topic_id
)
UPDATE assistant_gaptopic t SET recent_askers = a.recent, week_count = a.week,
    week_before_count = a.earlier, rated_count = a.rated, negative_count = a.negative,
    impact = a.recent * least(2, greatest(0.5, (a.week + 1.0) / (a.earlier + 1.0)))
        * (1 + coalesce(a.negative::float / nullif(a.rated, 0), 0))
FROM asked a WHERE a.topic_id = t.id AND (t.impact > 0 OR a.recent > 0)
"""


def recount(topic_ids: Iterable[int]) -> None:
    """Counts from the questions themselves."""
    with connection.cursor() as cursor:
        cursor.execute(_RECOUNT, [list(topic_ids)])


def measure(now: datetime) -> None:
    """The impact of every topic, and the parts it is made of."""
    week = now - timedelta(days=7)
    moments = {"month": now - timedelta(days=30), "week": week, "before": week - timedelta(days=7)}
    with connection.cursor() as cursor:
        cursor.execute(_MEASURE, moments)
