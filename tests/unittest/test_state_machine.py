"""Random programs of views, writes, ufuncs, reductions, sorting and joining: NumPy, eager and
compiled agree, exceptions included.

Each step (`programs/`) runs on NumPy and eagerly, and all arrays are compared after it; at the end
of every other program the recorded steps are replayed under `npx.jit`. In CI the programs are few
and always the same. NPCOMPAT_PROGRAMS says how many others are tried for each backend, and
`--hypothesis-seed` which:

    NPCOMPAT_PROGRAMS=10000 HYPOTHESIS_PROFILE=thorough python -m pytest
    tests/unittest/test_state_machine.py -k Host --hypothesis-seed=1 --timeout=0
"""

import os

import hypothesis
from programs.functions import Joining, Reductions, Sorting, Ufuncs
from programs.machine import Machine
from programs.records import Records
from programs.views import Views
from programs.writes import Writes

PROGRAMS = int(os.environ.get("NPCOMPAT_PROGRAMS", "0"))
PHASES = (hypothesis.Phase.explicit, hypothesis.Phase.generate, hypothesis.Phase.shrink)
CHECKS = (hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much)


class Host(Views, Writes, Ufuncs, Reductions, Sorting, Joining, Records, Machine):
    """NumPy's backend."""


class OnXla(Host):
    """The jax backend."""

    backend = "jax"


def case(machine, programs, steps):
    found = machine.TestCase
    found.settings = hypothesis.settings(
        max_examples=PROGRAMS or programs,
        stateful_step_count=steps,
        phases=PHASES,
        suppress_health_check=CHECKS,
    )
    return found


TestHost = case(Host, 100, 30)
TestXla = case(OnXla, 12, 20)
