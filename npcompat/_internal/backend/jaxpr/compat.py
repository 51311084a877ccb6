"""Private names of JAX and jaxlib: the only module that imports them.

Any of them may change with a release of JAX. Where a public name does the same, a comment says why
it is not used. The error for a missing name tells the installed version of JAX and the tested ones.
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax

from npcompat._internal.native import fast_path

TESTED = ">=0.10,<0.12"
"""Versions of JAX with which the tests were run; the same range as in `pyproject.toml`."""


def private(module: str, name: str) -> Any:
    """Return a name of a module of JAX that is not public; ImportError if this JAX lacks it."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ImportError(
            f"npcompat needs {module}.{name}, which JAX {jax.__version__} lacks; it was tested "
            f"with JAX {TESTED}"
        ) from error


if TYPE_CHECKING:
    from jax.core import ShapedArray
    from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive, Var, jaxpr_as_fun
    from jax.extend.linear_util import WrappedFun
else:
    # `jax.extend.core` and `jax.extend.linear_util` have these names, but import Pallas: 0.05 s
    ClosedJaxpr = private("jax._src.core", "ClosedJaxpr")
    Jaxpr = private("jax._src.core", "Jaxpr")
    JaxprEqn = private("jax._src.core", "JaxprEqn")
    Literal = private("jax._src.core", "Literal")
    Primitive = private("jax._src.core", "Primitive")
    ShapedArray = private("jax._src.core", "ShapedArray")
    Var = private("jax._src.core", "Var")
    jaxpr_as_fun = private("jax._src.core", "jaxpr_as_fun")
    WrappedFun = private("jax._src.linear_util", "WrappedFun")

ArrayImpl: Any = private("jax._src.array", "ArrayImpl")
"""Class of arrays on XLA. `jax.Array` is abstract: isinstance takes 0.4 us, `type(x) is` none."""
DynamicJaxprTracer: Any = private("jax._src.interpreters.partial_eval", "DynamicJaxprTracer")
"""Class of the tracers of a function that is traced to a jaxpr. No public name stands for it."""
convert_constvars_jaxpr: Any = private(
    "jax._src.interpreters.partial_eval", "convert_constvars_jaxpr"
)
"""Make the constants of a jaxpr its first inputs."""
convert_element_type: Any = private("jax._src.lax.lax", "_convert_element_type")
"""Cast, with a choice of weak types, which the public function lacks."""
HostBufferSemantics: Any = private("jaxlib.xla_client", "HostBufferSemantics")
"""Modes of transfer: how long XLA may read a host buffer."""
Zero: Any = private("jax._src.ad_util", "Zero")
"""Symbolic zero: the cotangent of an output on which nothing depends. Public functions take only
arrays of zeros, which an infinite derivative turns into nan.
"""
batched_device_put: Any = private("jaxlib.xla_client", "batched_device_put")
"""Transfer a host buffer to devices. `jax.device_put` takes ten times as long, and may alias the
buffer.
"""
collect_garbage: Any = private("jaxlib._jax", "collect_garbage")
"""Give up the host arrays that programs have read in place. XLA's threads don't hold the GIL, so
they leave that to the next call of JAX.
"""

func_dialect: Any = private("jaxlib.mlir.dialects", "func")
"""Functions and calls of MLIR. `jax.extend.mlir` has them, but imports Pallas."""
stablehlo: Any = private("jaxlib.mlir.dialects", "stablehlo")
"""Operations of StableHLO; likewise."""

has_huge_pages = fast_path.use_huge_pages("libjax_common.so")
"""True if large blocks of XLA's on the CPU lie on huge pages; `native/huge_pages.h` says how. JAX
has no option for it, and glibc's (`glibc.malloc.hugetlb`) is read when a process starts.
"""


modules_of_programs: tuple[Any, ...] = (
    private("jax._src.pjit", "_pjit_lower"),
    private("jax._src.interpreters.pxla", "_cached_lowering_to_hlo"),
)
"""Caches in which JAX keeps the MLIR module of a program for as long as its jaxpr."""


def drop_modules_of_programs(most: int) -> None:
    """Drop the MLIR modules of compiled programs if JAX keeps more than `most`.

    A module is used once, to compile its program, and takes 1.3 MB; and the more of them there
    are, the longer MLIR takes to make another: with 2,000, a program takes 1.5 times as long to
    compile. No public name drops modules and keeps programs. A program without one is lowered anew
    where JAX's C++ cannot call it, as programs that call Python.
    """
    if modules_of_programs[0].cache_info().currsize > most:
        for cache in modules_of_programs:
            cache.cache_clear()


def scan_counts(params: Mapping[str, Any]) -> tuple[int, int]:
    """Return the numbers of constants and of carried operands of a `scan` equation.

    JAX 0.10 has them among the parameters; later ones have a tree of the operands.
    """
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    constants, carried, _ = params["ft_in"].unpack()
    return len(list(constants)), len(list(carried))


def without_constants(closed: ClosedJaxpr) -> Jaxpr:
    """Return the equations of a closed jaxpr, apart from the values of its constants.

    In JAX 0.11 `closed.jaxpr` is `closed` itself: whoever keeps it keeps the constants alive.
    """
    detach: Any = getattr(closed, "with_consts", None)
    found: Jaxpr = closed.jaxpr if detach is None else detach(())
    return found


__all__ = [
    "TESTED",
    "ArrayImpl",
    "ClosedJaxpr",
    "DynamicJaxprTracer",
    "HostBufferSemantics",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "Primitive",
    "ShapedArray",
    "Var",
    "WrappedFun",
    "Zero",
    "batched_device_put",
    "collect_garbage",
    "convert_constvars_jaxpr",
    "convert_element_type",
    "drop_modules_of_programs",
    "func_dialect",
    "jaxpr_as_fun",
    "modules_of_programs",
    "private",
    "scan_counts",
    "stablehlo",
    "without_constants",
]
