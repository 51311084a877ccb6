"""Warnings of functions that NumPy computes name the line of the program that called them."""

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as onp

from npcompat import np
from npcompat._internal.support import warning_lines

PROGRAM = """
import {} as np
np.log(-1.0)
np.log(-2.0)
for i in range(3): np.sqrt([-1.0])
np.ones(2) / [0, 0]
np.array([np.nan]).astype(int)
def f(): return np.exp(1e4)
f()
np.float64(2) / np.float64(0); np.power(0.0, -1)
np.ones(2, complex).astype(float)
np.nanmean([np.nan])
np.polyfit([1, 1], [1, 1], 1)
"""


def lines(module, *options):
    ran = subprocess.run(
        [sys.executable, *options, "-c", PROGRAM.format(module)],
        capture_output=True,
        text=True,
        timeout=200,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    return ran.returncode, [text for text in ran.stderr.splitlines() if "Warning" in text]


def test_warnings_name_the_programs_lines():
    code, found = lines("npcompat.numpy")
    assert (code, found) == lines("numpy")
    assert len(found) == 11 and all(text.startswith("<string>:") for text in found)


def test_errors_in_place_of_warnings():
    code, found = lines("npcompat.numpy", "-W", "error::RuntimeWarning")
    assert code == 1 and found == ["RuntimeWarning: invalid value encountered in log"]
    assert lines("npcompat.numpy", "-W", "ignore") == lines("numpy", "-W", "ignore")


def recorded(*calls):
    with warnings.catch_warnings(record=True) as found:
        warnings.resetwarnings()
        warnings.simplefilter("default")
        warning_lines.name_users_lines()
        for call in calls:
            call()
    return [(w.filename, w.category, str(w.message)) for w in found]


def test_other_warnings_are_left_alone():
    assert recorded(lambda: warnings.warn("mine", UserWarning, stacklevel=1)) == [
        (__file__, UserWarning, "mine")
    ]
    log = "invalid value encountered in log"
    assert recorded(lambda: np.log(-1.0)) == [(__file__, RuntimeWarning, log)]
    with onp.errstate(all="ignore"):
        assert recorded(lambda: np.log(-1.0)) == []


def test_filters_are_pickled_without_effect():
    action, text, category, module, line = pickle.loads(pickle.dumps(warning_lines._FILTER))
    assert (action, category, line) == ("ignore", Warning, 0)
    assert text.match("any") is None and module.match("npcompat.numpy") is None


def test_filters_are_copied_without_effect():
    _, text, category, module, line = warning_lines._FILTER  # as scikit-learn does for its threads
    with warnings.catch_warnings(record=True) as found:
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", text.pattern, category, module.pattern, line)
        warnings.simplefilter("ignore", category, append=True)
        warnings.simplefilter("always", append=True)
        for _ in range(2):
            np.log(-1.0)
            warnings.warn("mine", UserWarning, stacklevel=1)
    assert [str(w.message) for w in found] == ["invalid value encountered in log", "mine"] * 2
