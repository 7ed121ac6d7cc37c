"""Importing a help center: a folder or .zip of Markdown, MDX, HTML or saved JSON exports.

`import_articles` reads every file first, so that links between them can be followed,
then stores one article per transaction: a file that cannot go in is reported with its
reason, and the rest goes in. Articles are matched by external id, so that a second
import changes nothing but what changed in the files.

`sources` lists and reads files, `frontmatter`, `mdx`, `html` and `exports` understand
them, `documents` puts that together, `links` and `media` lead to other articles and
pictures, `storing` writes, `report` says what happened.
"""

from articles.importing.documents import Options
from articles.importing.report import CannotImportError, Kind, Outcome, Problem, Report
from articles.importing.run import import_articles

__all__ = [
    "CannotImportError",
    "Kind",
    "Options",
    "Outcome",
    "Problem",
    "Report",
    "import_articles",
]
