"""What `proof.api` has Schemathesis change in its requests: most of them go to what is there."""

from __future__ import annotations

import json
import os
from typing import Any

import schemathesis

from tests.api_fuzzing import aim

KNOWN = json.loads(os.environ["FUZZED"])


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    aim(case, KNOWN)
