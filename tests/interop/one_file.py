"""One of NumPy's test files, named by the environment: what `tests.interop.measure` gives to
pytest.
"""

import os

from tests.interop.rewriting import load

FILE, BACKEND = os.environ.get("NUMPYS_TEST_FILE"), os.environ.get("NUMPYS_TEST_BACKEND")
if FILE and BACKEND:
    globals().update(load(FILE, backend=BACKEND))
