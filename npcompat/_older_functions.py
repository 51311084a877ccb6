"""Functions of MXNet's older arrays (`mx.nd`) as calls of np and npx, for `npcompat.migrate`.

Each stands with its parameters in MXNet and with what means the same here. A call is rewritten
only if its arguments are those parameters; NumPy's function of the same name may mean another.
"""

import ast
import copy
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_ONE = (
    "abs", "sign", "floor", "ceil", "trunc", "fix", "sqrt", "cbrt", "square", "reciprocal", "exp",
    "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "degrees", "radians", "negative",
    "zeros_like", "ones_like",
)  # fmt: skip
_LONG = {"mul": "multiply", "sub": "subtract", "div": "divide"}
_BINARY = ("add", "power", "maximum", "minimum")
_TWO = {
    **{name: name for name in (*_BINARY, *_LONG.values())},
    **{f"broadcast_{name}": name for name in _BINARY},
    **{f"broadcast_{name}": long for name, long in _LONG.items()},
    **{f"elemwise_{name}": long for name, long in {"add": "add", **_LONG}.items()},
}
_NPX_ONE = ("relu", "sigmoid", "erf", "erfinv", "gamma", "gammaln")
_REDUCTIONS = ("sum", "mean", "prod", "max", "min", "nansum", "nanprod")
_REFERENCES = {
    **{name: f"np.{name}" for name in _ONE},
    **{old: f"np.{name}" for old, name in _TWO.items()},
    **{name: f"npx.{name}" for name in _NPX_ONE},
}
"""Functions of the elements, which mean the same without a call, too."""

_CALLS: dict[str, tuple[str, str]] = {
    **{name: ("data", f"{_REFERENCES[name]}(data)") for name in (*_ONE, *_NPX_ONE)},
    **{name: ("lhs, rhs", f"{_REFERENCES[name]}(lhs, rhs)") for name in _TWO},
    **{
        name: (
            "data, axis=None, keepdims=False, exclude=False",
            f"np.{name}(data, axis=axis, keepdims=keepdims)",
        )
        for name in _REDUCTIONS
    },
    **{
        name: (
            "data, axis=None, keepdims=False",
            f"np.{name}(data, axis=axis, keepdims=keepdims).astype('float32')",
        )
        for name in ("argmax", "argmin")
    },
    "arange": (
        "start, stop=None, step=1, repeat=1, *, ctx=None, dtype='float32'",
        "np.repeat(np.arange(start, stop, step, dtype=dtype, ctx=ctx), repeat)",
    ),
    "argsort": (
        "data, axis=-1, is_ascend=True, dtype='float32'",
        "np.argsort(data, axis=axis, descending=not is_ascend).astype(dtype)",
    ),
    "batch_dot": (
        "lhs, rhs, transpose_a=False, transpose_b=False",
        "npx.batch_dot(lhs, rhs, transpose_a=transpose_a, transpose_b=transpose_b)",
    ),
    "broadcast_to": ("data, shape", "np.broadcast_to(data, shape)"),
    "clip": ("data, a_min, a_max", "np.clip(data, a_min, a_max)"),
    "concat": ("*data, dim=1", "np.concatenate([*data], axis=dim)"),
    "dot": (
        "lhs, rhs, transpose_a=False, transpose_b=False",
        "np.tensordot(lhs, rhs, axes=([0 if transpose_a else -1], [-1 if transpose_b else 0]) "
        "if transpose_a or transpose_b else 1)",
    ),
    "empty": ("shape, ctx=None, dtype='float32'", "np.empty(shape, dtype=dtype, ctx=ctx)"),
    "expand_dims": ("data, axis", "np.expand_dims(data, axis)"),
    "flatten": ("data", "np.reshape(data, (len(data), -1))"),
    "flip": ("data, axis", "np.flip(data, axis)"),
    "full": (
        "shape, val, ctx=None, dtype='float32'",
        "np.full(shape, val, dtype=dtype, ctx=ctx)",
    ),
    "FullyConnected": (
        "data, weight, bias=None, num_hidden=None, no_bias=False, flatten=True",
        "npx.fully_connected(data, weight, bias, num_hidden=num_hidden, no_bias=no_bias, "
        "flatten=flatten)",
    ),
    "gather_nd": ("data, indices", "npx.gather_nd(data, indices)"),
    "log_softmax": ("data, axis=-1", "npx.log_softmax(data, axis=axis)"),
    "norm": ("data", "np.linalg.norm(data)"),
    "one_hot": (
        "indices, depth, on_value=1.0, off_value=0.0, dtype='float32'",
        "npx.one_hot(indices, depth, on_value=on_value, off_value=off_value, dtype=dtype)",
    ),
    "array": (
        "source_array, ctx=None, dtype=None",
        "np.array(source_array, dtype=dtype, ctx=ctx)",
    ),
    "ones": ("shape, ctx=None, dtype='float32'", "np.ones(shape, dtype=dtype, ctx=ctx)"),
    "pick": (
        "data, index, axis=-1, keepdims=False, mode='clip'",
        "npx.pick(data, index, axis=axis, mode=mode, keepdims=keepdims)",
    ),
    "repeat": ("data, repeats, axis=None", "np.repeat(data, repeats, axis=axis)"),
    "reshape": ("data, shape, reverse=False", "np.reshape(data, shape)"),
    "reverse": ("data, axis", "np.flip(data, axis)"),
    "save": ("fname, data", "npx.save(fname, data)"),
    "slice": ("data, begin, end, step=None", "npx.slice(data, begin, end, step=step)"),
    "slice_axis": ("data, axis, begin, end", "npx.slice_axis(data, axis, begin, end)"),
    "softmax": (
        "data, *, axis=-1, temperature=None",
        "npx.softmax(data, axis=axis, temperature=temperature)",
    ),
    "sort": (
        "data, axis=-1, is_ascend=True",
        "np.sort(data, axis=axis, descending=not is_ascend)",
    ),
    "split": (
        "data, num_outputs, axis=1, squeeze_axis=False",
        "np.split(data, num_outputs, axis=axis)",
    ),
    "squeeze": ("data, axis=None", "np.squeeze(data, axis=axis)"),
    "stack": ("*data, axis=0", "np.stack([*data], axis=axis)"),
    "swapaxes": ("data, dim1, dim2", "np.swapaxes(data, dim1, dim2)"),
    "take": (
        "a, indices, axis=0, mode='clip'",
        "np.take(a, indices.astype('int64'), axis=axis, mode=mode)",
    ),
    "tile": ("data, reps", "np.tile(data, reps)"),
    "topk": (
        "data, axis=-1, k=1, ret_typ='indices', is_ascend=False, dtype='float32'",
        "npx.topk(data, axis=axis, k=k, ret_typ=ret_typ, is_ascend=is_ascend, dtype=dtype)",
    ),
    "transpose": ("data, axes=None", "np.transpose(data, axes=axes)"),
    "zeros": ("shape, ctx=None, dtype='float32'", "np.zeros(shape, dtype=dtype, ctx=ctx)"),
}
"""Parameters of a function of `mx.nd`, and the call in its place."""

_HERE = {"arange": 3, "array": 1, "empty": 1, "full": 2, "ones": 1, "zeros": 1}
"""Functions that are here, by the number of arguments whose places are those of MXNet."""

_FIXED = {"exclude": False, "reverse": False, "squeeze_axis": False}
"""Parameters that have nothing here but the value that they have if not given."""
_NOTES = {
    "array": "of an array, as np.array([0, 1])",
    "axis": "an empty axis stands for all axes in MXNet: leave it out",
    "twice": "of a variable, as the argument stands there twice",
    "exclude": "axis= names the axes that are reduced: there is no exclude=",
    "reverse": "there is no reverse=",
    "squeeze_axis": "np.squeeze leaves an axis out",
    "num_outputs": "np.split gives a list for one part, too",
    "shape": "0, -2, -3 and -4 in a shape have no meaning here",
}
_SPACES = {"np": "npcompat.numpy", "npx": "npcompat.numpy_extension"}


def expression(template: str, **nodes: Any) -> ast.expr:
    """Return a template's expression with nodes in place of names, lists in place of `*names`."""
    found: ast.expr = _Filled(nodes).visit(ast.parse(template, mode="eval").body)
    return found


class _Filled(ast.NodeTransformer):
    """Put nodes in place of names; `not`, `or` and `if` of constants become their value."""

    def __init__(self, nodes: Mapping[str, Any]) -> None:
        self._nodes = nodes

    def visit_Name(self, node: ast.Name) -> Any:
        return self._nodes.get(node.id, node)

    def visit_Starred(self, node: ast.Starred) -> Any:
        given = self._nodes.get(getattr(node.value, "id", ""))
        return given if isinstance(given, list) else self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        is_not = isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant)
        return ast.Constant(not node.operand.value) if is_not else node  # type: ignore[attr-defined]

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        values = [v.value for v in node.values if isinstance(v, ast.Constant)]
        is_known = isinstance(node.op, ast.Or) and len(values) == len(node.values)
        return ast.Constant(any(values)) if is_known else node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        if not isinstance(node.test, ast.Constant):
            return node
        return node.body if node.test.value else node.orelse


def reference(name: str) -> ast.expr | None:
    """Return what means the same as a function itself, as `np.exp` for `nd.exp`; else None."""
    return ast.parse(_REFERENCES[name], mode="eval").body if name in _REFERENCES else None


def call(name: str, node: ast.Call) -> tuple[ast.expr | None, str]:
    """Return a call in place of one of `mx.nd`, or None and what to use in words."""
    if name not in _CALLS:
        return None, in_words(name)
    parameters, template = _CALLS[name]
    signature = inspect.signature(eval(f"lambda {parameters}: 0"))
    words = {word.arg: word.value for word in node.keywords}
    starred = any([isinstance(a, ast.Starred) for a in node.args])
    is_plain = None not in words and (not starred or parameters.startswith("*"))
    try:
        bound = signature.bind(*node.args, **words) if is_plain else None  # type: ignore[arg-type]
    except TypeError:
        bound = None
    if bound is None:
        return None, in_words(name)
    given = dict(bound.arguments)
    if isinstance(given.get("data"), tuple):
        given["data"] = list(given["data"])
    hint = _refused(given) or _unfit(template, given)
    if hint:
        return None, f"use {template}: {hint}"
    if name in ("reshape", "broadcast_to"):
        given["shape"] = _shape(given["shape"], given["data"])
        if given["shape"] is None:
            return None, f"use {template}: {_NOTES['shape']}"
    nodes = {
        parameter.name: given.get(parameter.name, ast.Constant(parameter.default))
        for parameter in signature.parameters.values()
    }
    made = expression(template, **nodes)
    _leave_out_defaults(made, list(given.values()))
    return made, ""


def is_other(name: str, node: ast.Call) -> bool:
    """Return True for a call of a function that is here, whose arguments are others in MXNet."""
    words = {word.arg for word in node.keywords}
    return name in _HERE and (len(node.args) > _HERE[name] or bool(words & {"repeat", "val"}))


def takes_draw(name: str, args: Sequence[ast.expr], words: Mapping[Any, ast.expr]) -> bool:
    """Return True if a function of `np.random` has the parameters of a draw of `mx.nd.random`."""
    function = getattr(importlib.import_module("npcompat.numpy.random"), name, None)
    try:
        inspect.signature(function).bind(*args, **words)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _refused(given: Mapping[str, Any]) -> str:
    """The reason why arguments have no equal here; empty if they have."""
    for name, value in given.items():
        constant = value.value if isinstance(value, ast.Constant) else ...
        if name in _FIXED and constant is not _FIXED[name]:
            return _NOTES[name]
        is_empty = isinstance(value, ast.Tuple | ast.List) and not value.elts
        if name in ("axis", "axes") and is_empty:
            return _NOTES["axis"]
        if name == "num_outputs" and not (type(constant) is int and constant > 1):
            return _NOTES[name]
    return ""


def _unfit(template: str, given: Mapping[str, Any]) -> str:
    """The reason why arguments can't stand where a template names them; empty if they can."""
    parts = list(ast.walk(ast.parse(template, mode="eval")))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    asked = {part.value.id for part in parts if _is_asked(part)}  # type: ignore[attr-defined]
    for name, node in given.items():
        if names.count(name) > 1 and not _is_pure(node):
            return _NOTES["twice"]
        if name in asked and isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.UnaryOp):
            return _NOTES["array"]
    return ""


def _is_pure(node: Any) -> bool:
    """Return True for an expression that has the same value, and no effect, when it runs again."""
    if isinstance(node, ast.Call):
        known = isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS
        return known and all(map(_is_pure, [*node.args, *[w.value for w in node.keywords]]))
    kinds = ast.Name | ast.Attribute | ast.Constant | ast.Tuple | ast.List | ast.UnaryOp | ast.BinOp
    parts = [p for p in ast.iter_child_nodes(node) if isinstance(p, ast.expr)]
    return isinstance(node, kinds) and all(map(_is_pure, parts))


def _is_asked(part: ast.AST) -> bool:
    """Return True where a template asks a parameter for an attribute, as an array has it."""
    return isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)


def _shape(shape: ast.expr, data: ast.expr) -> ast.expr | None:
    """Return a shape in which 0, the length of the array's own axis, is spelled out."""
    if not isinstance(shape, ast.Tuple | ast.List):
        return None
    lengths: list[ast.expr] = []
    for axis, length in enumerate(shape.elts):
        try:
            value = ast.literal_eval(length)
        except ValueError:
            return None
        if type(value) is not int or value < -1:
            return None
        if value == 0 and not isinstance(data, ast.Name):
            return None
        lengths.append(expression(f"x.shape[{axis}]", x=data) if value == 0 else length)
    return ast.Tuple(lengths, ast.Load())


def _leave_out_defaults(made: ast.AST, given: Sequence[Any]) -> None:
    """Leave out keywords that were not given and are the defaults of np's and npx's functions."""
    for part in ast.walk(made):
        space = getattr(getattr(part, "func", None), "value", None)
        if isinstance(part, ast.Call) and isinstance(space, ast.Name) and space.id in _SPACES:
            function = getattr(importlib.import_module(_SPACES[space.id]), part.func.attr)  # type: ignore[attr-defined]
            parameters = inspect.signature(function).parameters
            part.keywords = [
                word
                for word in part.keywords
                if any([word.value is value for value in given])
                or not _is_default(parameters[str(word.arg)].default, word.value)
            ]


def _is_default(default: Any, node: ast.expr) -> bool:
    """Return True if a constant is a default; NumPy's `<no value>` stands for False and None."""
    if not isinstance(node, ast.Constant):
        return False
    if isinstance(default, bool | int | float | str) or default is None:
        return bool(default == node.value)
    return not node.value


def in_words(name: str) -> str:
    """Return in words the replacement of a function of `mx.nd` that is not rewritten."""
    if name in _CALLS:
        return f"use {_CALLS[name][1]}"
    for space, module in _SPACES.items():
        if hasattr(importlib.import_module(module), name):
            return f"see {space}.{name}, whose arguments and meaning may be others"
    try:
        getattr(importlib.import_module("npcompat.ndarray"), name)
    except AttributeError as error:
        _, _, instead = str(error).partition("; use ")
        return f"use {instead}" if instead else "use the functions of np and npx"
    return "use the functions of np and npx"


class Replacer:
    """Replacer of parts of a program by other expressions.

    Parameters
    ----------
    program : ast.AST
        The program.
    edits : mapping
        What to write for a node: an expression, or text.
    name : callable
        Returns the program's name of `np` or `npx`, where an expression that is new has it.
    """

    def __init__(
        self,
        program: ast.AST,
        edits: Mapping[ast.AST, ast.AST | str],
        name: Callable[[str], str],
    ) -> None:
        self._own, self._edits, self._name = {*ast.walk(program)}, edits, name

    def text(self, node: ast.AST) -> str:
        """Return the text of a node's replacement, with the parts that are replaced themselves."""
        new = self._edits[node]
        return new if isinstance(new, str) else ast.unparse(self._replaced(new, {node}))

    def _replaced(self, node: Any, within: set[ast.AST]) -> Any:
        if isinstance(node, list):
            return [self._replaced(item, within) for item in node]
        if not isinstance(node, ast.AST):
            return node
        new = self._edits.get(node)
        if isinstance(new, ast.AST) and node not in within:
            return self._replaced(new, {*within, node})
        made = copy.copy(node)
        for name, value in ast.iter_fields(node):
            setattr(made, name, self._replaced(value, within))
        if isinstance(made, ast.Name) and made.id in _SPACES and node not in self._own:
            made.id = self._name(made.id)
        return made


__all__ = [
    "Replacer",
    "call",
    "expression",
    "in_words",
    "is_other",
    "reference",
    "takes_draw",
]
