"""Figures about answers, for staff: what is counted, in days of the site's time zone.

Only visitors' answers that have ended count. `period` is a stretch of days, `overview` the
whole site's figures, `articles` what answers made of one article, `usage` how often articles
were cited. Everything is counted by the database, in a fixed number of queries.
"""
