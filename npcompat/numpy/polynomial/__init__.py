"""NumPy's polynomial modules, run with npcompat's `np` in place of NumPy's.

They use only public functions of NumPy. So they run on any backend, can be recorded, and return
npcompat's arrays. Most can't be compiled, because they trim trailing zeros by value.
"""

import ast
import importlib.util
import sys
from types import ModuleType
from typing import Any

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles

_MODULES = (
    "polyutils",
    "_polybase",
    "polynomial",
    "chebyshev",
    "legendre",
    "hermite",
    "hermite_e",
    "laguerre",
)


class _Ours(ast.NodeTransformer):
    """AST transformer that replaces NumPy's `np` and array-function dispatch by npcompat's."""

    def visit_Import(self, node: ast.Import) -> ast.Import:
        for name in node.names:
            if name.name == "numpy":
                name.name = "npcompat.numpy"
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        if node.module != "numpy._core.overrides":
            return node
        name = node.names[0].asname or node.names[0].name
        return ast.copy_location(
            ast.parse(f"from npcompat.numpy._overrides import asks_classes as {name}").body[0], node
        )


def _run(name: str) -> ModuleType:
    """Run one of NumPy's modules as a module of this package."""
    spec = importlib.util.find_spec(f"numpy.polynomial.{name}")
    assert spec is not None and spec.origin is not None
    with open(spec.origin, encoding="utf-8") as file:
        tree = ast.fix_missing_locations(_Ours().visit(ast.parse(file.read(), spec.origin)))
    module = ModuleType(f"{__name__}.{name}")
    module.__file__, module.__package__ = spec.origin, __name__
    sys.modules[module.__name__] = module
    exec(compile(tree, spec.origin, "exec"), module.__dict__)
    return module


globals().update({name: _run(name) for name in _MODULES})
_found: dict[str, Any] = globals()
_polyutils = _found["polyutils"]
_text_of_numpys = _polyutils.format_float


def _format_float(x: Any, parens: bool = False) -> str:
    """Format a coefficient; NumPy's own function checks for NumPy's scalar types."""
    return str(_text_of_numpys(handles.to_host(x)[()] if isinstance(x, Handle) else x, parens))


_polyutils.format_float = _format_float
Polynomial: Any = _found["polynomial"].Polynomial
Chebyshev: Any = _found["chebyshev"].Chebyshev
Legendre: Any = _found["legendre"].Legendre
Hermite: Any = _found["hermite"].Hermite
HermiteE: Any = _found["hermite_e"].HermiteE
Laguerre: Any = _found["laguerre"].Laguerre


def set_default_printstyle(style: str) -> None:
    """Set the style of printed polynomials: 'unicode' or 'ascii'.

    'unicode' prints powers as superscripts.

    Examples
    --------
    >>> np.polynomial.set_default_printstyle("ascii")
    >>> print(np.polynomial.Polynomial([1.0, 2.0]))
    1.0 + 2.0 x
    >>> np.polynomial.set_default_printstyle("unicode")
    """
    if style not in ("unicode", "ascii"):
        raise ValueError(
            f"Unsupported format string '{style}'. Valid options are 'ascii' and 'unicode'"
        )
    _found["_polybase"].ABCPolyBase._use_unicode = style == "unicode"


__all__ = [
    "Chebyshev",
    "Hermite",
    "HermiteE",
    "Laguerre",
    "Legendre",
    "Polynomial",
    "set_default_printstyle",
]
__all__ += ["chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial", "polyutils"]
