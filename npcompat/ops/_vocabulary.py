"""What the name of an argument means in every operator that says nothing else of it: its type, and
what it is.
"""

_OPERAND = ("array", "The operand.")
_FIRST, _SECOND = ("array", "First operand."), ("array", "Second operand.")
_DIAGONAL = (
    "int",
    "Which diagonal: 0 is the main one, positive ones lie above it, negative ones below.",
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
    "like": ("array", "An array whose kind the result has; its values don't count."),
    "mask": ("array of bool", "True at the elements that are meant."),
    "where": ("array of bool", "Elements to include; all if not given."),
    "new": ("array", "What is written."),
    "positions": ("array of int", "Positions along an axis."),
    "indices": ("array of int", "Positions along an axis."),
    "key": ("array of uint32", "Key of the random stream, two words."),
    "counter": ("array of int64", "Number of the draw; the last output is that of the next one."),
    "parameters": (
        "array",
        "Parameters of the distribution, in the order of the public function's.",
    ),
    "rest": ("array", "Optional inputs."),
    # attributes
    "axis": ("int or tuple of int, optional", "Along which axis or axes; None: all elements."),
    "axes": ("tuple of int, optional", "Axes, in order."),
    "axis1": ("int", "The axis of rows."),
    "axis2": ("int", "The axis of columns."),
    "dtype": ("dtype, optional", "Dtype of the result; by the types of the inputs if None."),
    "keepdims": ("bool", "Whether the axes that are summed up stay, with length 1."),
    "initial": (
        "scalar, optional",
        "What the result begins with, and is where there is no element.",
    ),
    "shape": ("tuple of int", "Shape of the result."),
    "size": (
        "tuple of int, optional",
        "Shape of the sample; that of the parameters together if None.",
    ),
    "device": ("Device", "Where the result is."),
    "k": _DIAGONAL,
    "offset": _DIAGONAL,
    "N": ("int", "Number of rows."),
    "M": ("int, optional", "Number of columns; that of rows if None."),
    "n": (
        "int, optional",
        "Length of the axis that is transformed, cut off or filled with zeros; None: as it is.",
    ),
    "norm": (
        "{'backward', 'ortho', 'forward'}",
        "Which direction is scaled: back, both, or forth.",
    ),
    "UPLO": ("{'L', 'U'}", "Which triangle is read, the lower or the upper one."),
    "ddof": ("float", "What the divisor is less than the number of elements by."),
    "decimals": ("int", "How many digits after the point are kept; negative ones are before it."),
    "given": ("str", "Initials of the optional inputs that are given: 'm' the mean, 'w' the mask."),
    "mode": ("{'raise', 'wrap', 'clip'}", "What is done with positions out of range."),
    "ufunc": ("str", "Name of NumPy's ufunc."),
}
