"""Processes that are forked: XLA is started late, and its absence in a child is an error, no hang."""

import multiprocessing
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork"
)

CHILD = """
import os, sys, warnings

from npcompat import np, npx
warnings.simplefilter("ignore")  # JAX warns of the fork
{before}
child = os.fork()
if child == 0:
    try:
        print({inside})
    except RuntimeError as error:
        print("refused:", str(error)[:33])
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
"""


def run(before, inside):
    code = CHILD.format(before=before, inside=inside)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.strip()


def test_a_child_draws_if_the_parent_has_computed_on_the_host_only():
    before = "a = np.arange(6.0).reshape(2, 3); b = (a @ a.T).sum() + np.sort(a)[0, 0]"
    assert run(before, "np.random.rand(3).shape, (a + 1).tolist()[0]") == "(3,) [1.0, 2.0, 3.0]"


USES = {
    "draw": ("np.random.rand(3)", "np.random.rand(3)"),
    "compile": ("np.random.rand(3)", "npx.jit(np.sin)(np.ones(2))"),
    "compiled": ("f = npx.jit(np.sin); a = np.ones(2); f(a), f(a), f(a)", "f(a).sum()"),
    "on XLA": (
        "with npx.backend('jax'): a = np.ones((2000, 1000)); (-a).asnumpy(); (-a).asnumpy()",
        "(-a).shape",
    ),
    "gradient": (
        "from npcompat import autograd; a = np.ones(2); a.attach_grad()\n"
        "with autograd.record(): b = (np.random.rand(2) * a).sum()\n",
        "b.backward()",
    ),
}


@pytest.mark.parametrize("use", USES)
def test_a_child_of_a_process_with_xla_is_told(use):
    before, inside = USES[use]
    assert run(before, inside) == "refused: XLA does not work in this process"


def test_such_a_child_computes_on_the_host():
    assert run("np.random.rand(3)", "(np.ones(3) * 2).tolist()") == "[2.0, 2.0, 2.0]"
