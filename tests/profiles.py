"""How many examples Hypothesis tries: HYPOTHESIS_PROFILE names one of these.

`default` for every day, `thorough` for whoever changes the citation writer, `proof` for
`make proof`, and `mutants` for tests that only have to notice: the same examples each time.
"""

import os

from hypothesis import HealthCheck, Phase, settings

settings.register_profile("default", deadline=None, max_examples=50, stateful_step_count=30)
settings.register_profile("thorough", deadline=None, max_examples=2_000)
settings.register_profile(
    "proof",
    deadline=None,
    max_examples=20_000,
    stateful_step_count=80,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "mutants",
    deadline=None,
    max_examples=20,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
