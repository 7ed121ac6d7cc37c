"""`manage.py import_articles DIR`: see the page “Import a help center” of the manual."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from articles import demo
from articles.importing import CannotImportError, Options, import_articles
from articles.importing.summary import problem_lines, summary_lines

STAGES = {
    "read": "Reading",
    "store": "Storing",
    "index": "Indexing",
    "build": "Building the vector index",
}


class Command(BaseCommand):
    help = (
        "Imports articles from a folder or .zip of Markdown, MDX, HTML or JSON exports. "
        "A second import changes only what changed in the files."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, metavar="DIR", help="the folder or .zip file")
        parser.add_argument(
            "--dry-run", action="store_true", help="report what would happen, and write nothing"
        )
        parser.add_argument(
            "--overwrite",
            action="store_true",
            help="replace articles that were edited on the site since the last import as well",
        )
        parser.add_argument(
            "--source",
            default="",
            metavar="NAME",
            help="a name for where the files come from; keeps several imported folders apart",
        )
        parser.add_argument(
            "--site",
            default="",
            metavar="URL",
            help="where the pages are published now; links to it become links to the articles",
        )
        parser.add_argument(
            "--encoding", default="", help="the encoding of files that are not UTF-8"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        _check_encoding(options["encoding"])
        if f"{options['source']}:" == demo.PREFIX:
            raise CommandError(f"--source: “{options['source']}” names this product's demo content")
        chosen = Options(
            prefix=f"{options['source']}:" if options["source"] else "",
            encoding=options["encoding"],
            site=options["site"],
            overwrite=options["overwrite"],
            dry_run=options["dry_run"],
        )
        try:
            with ProgressBar() as progress:
                report = import_articles(options["path"], chosen, progress)
        except CannotImportError as error:
            raise CommandError(str(error)) from error
        for line in problem_lines(report, everything=options["verbosity"] > 1):
            self.stdout.write(line)
        for line in summary_lines(report, dry_run=options["dry_run"]):
            self.stdout.write(line)
        if report.failures:
            raise CommandError(f"{report.failures} could not be imported.", returncode=1)


class ProgressBar:
    """One bar per stage on a terminal; silent anywhere else."""

    def __enter__(self) -> ProgressBar:
        self._stage = ""
        self._bar: Any = None
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._close()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self._close()
            self._stage = stage
            self._bar = tqdm(total=total, desc=STAGES[stage], disable=None, leave=False)
        self._bar.update(done - self._bar.n)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _check_encoding(name: str) -> None:
    if name:
        try:
            codecs.lookup(name)
        except LookupError as error:
            raise CommandError(f"--encoding: “{name}” is not an encoding") from error
