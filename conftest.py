"""Names that doctests see without an import, and profiles of hypothesis
(`HYPOTHESIS_PROFILE=thorough` tries more).
"""

import gc
import os
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import hypothesis
import numpy
import pytest

import npcompat

# The tests compile thousands of programs and run each once: XLA need not make them fast, and the
# collector need not look at what it made so often.  The examples run with XLA as users have it, and
# so do the tests with `NPCOMPAT_TEST_XLA=user` (`make users-xla`).
_FAST_TO_COMPILE = [
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_parallel_codegen_split_count=1",
]
if tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 11):  # XLA exits on flags unknown to it
    _FAST_TO_COMPILE.append("--xla_cpu_use_fusion_emitters=false")
if os.environ.get("NPCOMPAT_TEST_XLA") != "user":
    os.environ.setdefault("XLA_FLAGS", " ".join(_FAST_TO_COMPILE))
gc.set_threshold(100_000, 20, 50)


@pytest.fixture(scope="module", autouse=True)
def old_objects_are_frozen() -> None:
    """Let the collector look only at what the module's tests make: compiled programs are millions
    of objects after some thousand tests, and each `gc.collect()` of a test takes seconds.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def processes_share_programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let the processes that tests start share their compiled programs on disk: many of them run
    the same program.  JAX has read its settings here, so that the tests themselves compile anew.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(folder / "programs"))
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
        yield


# extensions of libraries that may be missing; programs, which run when they are imported
collect_ignore_glob = [
    "npcompat/_libraries/*_*.py",
    "tests/published/*.py",
    "tests/libraries/programs/*.py",
]
if find_spec("torch") is None:  # what imports it can't be looked at for doctests
    collect_ignore_glob += ["npcompat/_internal/backend/kit/torch_*.py", "*/optional_torch.py"]
pytest_plugins = ["tests.interop.plugin"]
hypothesis.settings.register_profile(
    "ci", derandomize=True, deadline=None, database=None, print_blob=True
)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def doctest_names(doctest_namespace: dict[str, Any]) -> None:
    """`np`, `npx`, `autograd`, `gluon` and its siblings are npcompat's in every doctest; `onp` is
    the real NumPy.
    """
    later = (
        "gluon",
        "image",
        "init",
        "lr_scheduler",
        "operator",
        "ops",
        "optimizer",
        "recordio",
        "symbol",
        "util",
    )
    for name in ("np", "npx", "autograd", *later):
        doctest_namespace[name] = getattr(npcompat, name)
    doctest_namespace["nn"] = npcompat.gluon.nn
    doctest_namespace["onp"] = numpy
