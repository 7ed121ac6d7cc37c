"""What labelled messages are taken for: small talk, a question, or about something else.

    python bench/grounding.py [--show]

Asks every message of tests/grounding_questions.csv of a site made of the manual and the
articles of tests/support_claims.json, as a turn whose model searches and cites nothing. Prints
Markdown tables; `--show` also the messages that were judged wrong. Starts servers of its
own in a temporary folder; touches no other database.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from bench import databases  # noqa: E402
from tests.grounding_set import judge_all, labelled, load_site, table  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    show = parser.parse_args().show
    with databases.passing():
        run(show=show)


def run(*, show: bool) -> None:
    load_site()
    from articles.models import IndexState

    for state in IndexState.objects.exclude(outskirts=None):
        print(f"{state.language}: {state.passages} passages, outskirts {state.outskirts:.3f}")
    found = judge_all(labelled())
    print("\n" + table(found, lambda message: message.label))
    print("\n" + table(found, lambda message: message.kind))
    print("\n" + table(found, lambda message: f"{message.language}, {message.label}"))
    for one in found:
        if show and not one.is_right:
            print(f"{one.message.half}: {one.message.message!r} taken for {one.taken_for}")


if __name__ == "__main__":
    main()
