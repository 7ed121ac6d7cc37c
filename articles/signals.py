"""What articles tell the rest of the project. They know no listener."""

from django.dispatch import Signal

article_published = Signal()
"""Sent after the commit. Arguments: `article_id: int`, `revision_id: int`, `first: bool`."""

article_withdrawn = Signal()
"""Sent after the commit of an unpublishing or a deletion. Arguments: `article_id: int`."""
