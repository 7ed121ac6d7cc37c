"""What `make proof` runs: the core broken in every small way, and long runs of random tests.

It takes long. Run it after a change of the citation writer, the ledger or
the agent's loop, and before a release.
"""

import os
import sys
from pathlib import Path

from tests.run import Step, carry_out

TURNS = 5_000
TURNS_LONG = (
    "tests/test_turn_scenarios.py",
    "tests/test_turn_scenarios_processes.py",
    "tests/test_chat_idempotency.py",
    "tests/test_chat_processes.py",
    "tests/test_chat_cuts.py",
    "tests/test_chat_stop.py",
    "tests/test_chat_deploys.py",
    "tests/test_nothing_is_left.py",
    "tests/test_nothing_is_left_processes.py",
)
PROPERTIES = ("tests/test_citation_properties.py", "tests/test_citation_conversations.py")


def steps(_report: Path) -> list[Step]:
    python, cores = sys.executable, str(os.cpu_count() or 1)
    return [
        Step("mutation", [python, "-m", "proof.mutation"]),
        Step(
            "properties",
            [python, "-m", "pytest", "--quiet", "-n", cores, *PROPERTIES],
            variables={"HYPOTHESIS_PROFILE": "proof"},
        ),
        Step(
            "malformed input",
            [python, "-m", "pytest", "--quiet", "tests/test_malformed_input.py"],
            variables={"MALFORMED": "5000"},
        ),
        Step(
            "hostile addresses",
            [python, "-m", "pytest", "--quiet", "tests/test_hostile_addresses.py"],
            variables={"HOSTILE": "100"},
        ),
        Step(
            "turns",
            [python, "-m", "pytest", "--quiet", *TURNS_LONG],
            variables={
                "TURN_STORIES": "500",
                "PROCESS_STORIES": "20",
                "SEND_ROUNDS": "100",
                "CUTS": "2000",
                "STOP_RACES": "200",
                "DEPLOYS": "20",
                "DISCONNECTS": "500",
                "LONG_RUN": "5000",
            },
        ),
        Step("database", [python, "manage.py", "migrate", "--verbosity=0"]),
        Step("sources", [python, "manage.py", "check_sources", f"--turns={TURNS}"]),
        Step("API", [python, "-m", "proof.api"]),
        Step("hold-back and growth", [python, "bench/citations.py"]),
    ]


if __name__ == "__main__":
    sys.exit(carry_out(steps))
