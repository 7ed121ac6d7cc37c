"""Folders and archives to import, written from a mapping of paths to contents."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from PIL import Image

from articles.importing import Options, Report, import_articles
from articles.models import Article

Content = str | bytes | dict[str, Any] | list[Any]


def write(folder: Path, files: Mapping[str, Content]) -> Path:
    """Writes the files below `folder`; what is neither text nor bytes becomes JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_bytes(content))
    return folder


def write_zip(path: Path, files: Mapping[str, Content]) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, _bytes(content))
    return path


def run(path: Path, **options: Any) -> Report:
    return import_articles(path, Options(**options))


def import_files(folder: Path, files: Mapping[str, Content], **options: Any) -> Report:
    return run(write(folder, files), **options)


def imported(path: str) -> Article:
    """The article that the last import made of `path`."""
    return Article.objects.get(external_id=path)


def messages(report: Report) -> list[str]:
    return [str(problem) for problem in report.problems]


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 8), colour: str = "red") -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, kind)
    return stream.getvalue()


def _bytes(content: Content) -> bytes:
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content)).encode()
