"""`import npcompat` costs little more than `import jax`: what is seldom needed is imported when it
is asked for.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import npcompat
loaded = [name for name in ("optax", "safetensors", "npcompat.gluon", "npcompat.image", "npcompat.optimizer") if name in sys.modules]
assert loaded == [], loaded
net = npcompat.gluon.nn.Dense(1, in_units=1)
net.initialize(npcompat.init.One())
assert "optax" not in sys.modules and "PIL" not in sys.modules
try:
    npcompat.nothing
except AttributeError as error:
    print(error)
"""


def test_the_learning_layers_are_imported_when_they_are_asked_for():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "module 'npcompat' has no attribute 'nothing'\n"


@pytest.mark.parametrize("name", ["image", "recordio"])
def test_what_is_imported_later_can_be_imported_first(name):
    done = subprocess.run(
        [sys.executable, "-c", f"from npcompat import {name}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
