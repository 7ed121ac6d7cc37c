"""The writers' side: articles with their revisions, and categories.

Saving keeps a working copy; "Save and publish" makes it live. Every step that
changes what visitors see is logged with who did it.
"""

from articles.admin.articles import ArticleAdmin
from articles.admin.categories import CategoryAdmin
from articles.admin.searches import SearchQueryAdmin
from articles.admin.synonyms import SynonymAdmin

__all__ = ["ArticleAdmin", "CategoryAdmin", "SearchQueryAdmin", "SynonymAdmin"]
