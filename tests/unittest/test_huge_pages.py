"""Large blocks that XLA allocates lie on huge pages, where the kernel has them."""

import platform
from pathlib import Path

import pytest
from processes import run

from npcompat import npx
from npcompat._internal.native import fast_path

SWITCH = Path("/sys/kernel/mm/transparent_hugepage/enabled")
PROGRAM = """
import jax
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
    platform.system() != "Linux"
    or platform.libc_ver()[0] != "glibc"
    or platform.machine() not in ("x86_64", "aarch64")
    or not SWITCH.exists()
    or "[never]" in SWITCH.read_text()
    or npx.build_info()["native_missing"].startswith("it could not be imported"),
    reason="the kernel has no huge pages, or the C part was not built",
)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "True True 16777214.0"),
        ({"NPCOMPAT_FAST": "pages"}, "True True 16777214.0"),
        ({"NPCOMPAT_FAST": "index,calls,draws"}, "False False 16777214.0"),
        ({"NUMPY_MADVISE_HUGEPAGE": "0"}, "False False 16777214.0"),
        ({"NPCOMPAT_NATIVE": "0"}, "False False 16777214.0"),
    ],
)
def test_large_blocks_of_xla_lie_on_huge_pages(environment, expected):
    found, error = run(PROGRAM, **environment)
    assert found == [expected], error


def test_a_library_that_is_not_loaded_is_left_alone():
    assert not fast_path.use_huge_pages("no such library")
