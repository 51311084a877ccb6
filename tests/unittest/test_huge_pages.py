"""Large blocks that XLA allocates lie on huge pages, where the kernel has them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from npcompat import npx

SWITCH = Path("/sys/kernel/mm/transparent_hugepage/enabled")
PROGRAM = """
import jax, sys
from npcompat import npx

def flags_at(address):
    inside = False
    for line in open("/proc/self/smaps"):
        first = line.split()[0]
        if "-" in first and not first.endswith(":"):
            begin, end = (int(n, 16) for n in first.split("-"))
            inside = begin <= address < end
        elif inside and first == "VmFlags:":
            return line.split()[1:]

x = jax.jit(lambda: jax.numpy.arange(float(1 << 23)) * 2)()
middle = x.unsafe_buffer_pointer() + x.nbytes // 2
print(npx.build_info()["huge_pages"], "hg" in flags_at(middle), float(x[-1]))
"""

pytestmark = pytest.mark.skipif(
    not npx.build_info()["huge_pages"] or not SWITCH.exists() or "[never]" in SWITCH.read_text(),
    reason="there are no huge pages, or they are switched off",
)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "True True 16777214.0"),
        ({"NPCOMPAT_FAST": "index,calls,draws"}, "False False 16777214.0"),
        ({"NUMPY_MADVISE_HUGEPAGE": "0"}, "False False 16777214.0"),
        ({"NPCOMPAT_NATIVE": "0"}, "False False 16777214.0"),
    ],
)
def test_large_blocks_of_xla_lie_on_huge_pages(environment, expected):
    left_out = ("NPCOMPAT_FAST", "NPCOMPAT_NATIVE", "NUMPY_MADVISE_HUGEPAGE", "GLIBC_TUNABLES")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={k: v for k, v in os.environ.items() if k not in left_out}
        | {"PYTHONPATH": str(Path(__file__).parents[2]), **environment},
    )
    assert ran.stdout.strip() == expected, ran.stderr


def test_a_library_that_is_not_loaded_is_left_alone():
    from npcompat._internal.native import fast_path

    assert not fast_path.use_huge_pages("no such library")
