"""Default type and description of arguments by name, for operators without their own."""

_OPERAND = ("array", "The operand.")
_FIRST, _SECOND = ("array", "First operand."), ("array", "Second operand.")
_DIAGONAL = (
    "int",
    "Index of the diagonal: 0 is the main one, positive ones are above it, negative ones below.",
)

MEANINGS: dict[str, tuple[str, str]] = {
    # inputs
    "a": _OPERAND,
    "x": _OPERAND,
    "m": ("array", "Matrix, or a stack of them."),
    "z": _OPERAND,
    "arr": _OPERAND,
    "arrays": ("array", "Operands, in order."),
    "x1": _FIRST,
    "x2": _SECOND,
    "b": _SECOND,
    "like": ("array", "An array whose class the result has; its values are not used."),
    "mask": ("array of bool", "True for selected elements."),
    "where": ("array of bool", "Elements to include; all if not given."),
    "new": ("array", "Values to write."),
    "positions": ("array of int", "Indices along an axis."),
    "indices": ("array of int", "Indices along an axis."),
    "key": ("array of uint32", "Key of the random stream, two words."),
    "counter": ("array of int64", "Number of the draw; the last output is the next one's."),
    "parameters": (
        "array",
        "Parameters of the distribution, in the order of the public function's.",
    ),
    "rest": ("array", "Optional inputs."),
    # attributes
    "axis": ("int or tuple of int, optional", "Axis or axes of the operation; None: all elements."),
    "axes": ("tuple of int, optional", "Axes, in order."),
    "axis1": ("int", "The axis of rows."),
    "axis2": ("int", "The axis of columns."),
    "dtype": ("dtype, optional", "Dtype of the result; None: by the types of the inputs."),
    "keepdims": ("bool", "Whether reduced axes stay, with length 1."),
    "initial": (
        "scalar, optional",
        "Initial value of the reduction, and result for no elements.",
    ),
    "shape": ("tuple of int", "Shape of the result."),
    "size": (
        "tuple of int, optional",
        "Shape of the sample; None: the broadcast shape of the parameters.",
    ),
    "device": ("Device", "Device of the result."),
    "k": _DIAGONAL,
    "offset": _DIAGONAL,
    "N": ("int", "Number of rows."),
    "M": ("int, optional", "Number of columns; None: the number of rows."),
    "n": (
        "int, optional",
        "Length of the transformed axis, which is truncated or zero-padded; None: unchanged.",
    ),
    "norm": (
        "{'backward', 'ortho', 'forward'}",
        "The scaled direction: backward, both, or forward.",
    ),
    "UPLO": ("{'L', 'U'}", "The triangle that is read, lower or upper."),
    "ddof": (
        "float",
        "Delta degrees of freedom: the divisor is the number of elements minus this.",
    ),
    "decimals": ("int", "Number of decimals to keep; negative ones are digits before the point."),
    "given": ("str", "Initials of the given optional inputs: 'm' the mean, 'w' the mask."),
    "mode": ("{'raise', 'wrap', 'clip'}", "Treatment of indices out of range."),
    "ufunc": ("str", "Name of NumPy's ufunc."),
}
