"""The articles, their published revisions, and the index that search reads.

`content` is what writers make and `category` what they file it in. `index` is derived from it
and can be rebuilt at any time. `feedback` is what readers say about it, `synonyms` is what
writers tell search, `words` what a misspelt one may have meant, and `search_log` what was
searched for.
"""

from articles.models.bulk import BulkChange, BulkChangeItem
from articles.models.category import Category
from articles.models.content import (
    LANGUAGE,
    Article,
    ArticleRevision,
    SlugRedirect,
    Status,
    Visibility,
)
from articles.models.feedback import ArticleFeedback, Rating
from articles.models.index import IndexEntry, IndexState, Passage, Term
from articles.models.links import ArticleLink
from articles.models.search_log import SearchClick, SearchQuery
from articles.models.synonyms import SynonymGroup, SynonymVersion
from articles.models.words import KnownWord

__all__ = [
    "LANGUAGE",
    "Article",
    "ArticleFeedback",
    "ArticleLink",
    "ArticleRevision",
    "BulkChange",
    "BulkChangeItem",
    "Category",
    "IndexEntry",
    "IndexState",
    "KnownWord",
    "Passage",
    "Rating",
    "SearchClick",
    "SearchQuery",
    "SlugRedirect",
    "Status",
    "SynonymGroup",
    "SynonymVersion",
    "Term",
    "Visibility",
]
