"""The articles, their published revisions, and the index that search reads.

`content` is what writers make, `index` is derived from it and can be rebuilt at
any time, `feedback` is what readers say about it, `synonyms` is what writers tell search.
"""

from articles.models.content import (
    Article,
    ArticleRevision,
    Category,
    SlugRedirect,
    Status,
    Visibility,
)
from articles.models.feedback import ArticleFeedback, Rating
from articles.models.index import IndexEntry, IndexState, Passage, Term
from articles.models.synonyms import SynonymGroup, SynonymVersion

__all__ = [
    "Article",
    "ArticleFeedback",
    "ArticleRevision",
    "Category",
    "IndexEntry",
    "IndexState",
    "Passage",
    "Rating",
    "SlugRedirect",
    "Status",
    "SynonymGroup",
    "SynonymVersion",
    "Term",
    "Visibility",
]
