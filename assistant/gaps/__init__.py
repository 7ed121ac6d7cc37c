"""The documentation-gap report and the writers' queue.

`asked` says what enters it, `vectors` and `clustering` group questions into topics, `report` is
the run that does it all, `naming` finds the question that speaks for others, `erasing` takes
the words of an erased conversation out again.
"""

from assistant.gaps.erasing import forget
from assistant.gaps.report import update_report

__all__ = ["forget", "update_report"]
