"""Errors and warnings of npcompat, to be caught by class.

Each is a subclass of what NumPy or Python raises in that place: `except ValueError` catches a
`ParameterFileError`.
"""

from npcompat._internal.support.errors import (
    AddressNotImplementedError,
    AuditError,
    AutogradError,
    BackendError,
    CompileWarning,
    DataFileError,
    DeferredInitializationError,
    DefinitionError,
    InferenceError,
    LeakedTracerError,
    OperatorError,
    ParameterFileError,
    PrecisionWarning,
    RefusedError,
    RemoteValuesError,
    SymbolError,
    TracedValueError,
    UnsupportedDtypeError,
)

__all__ = [
    "AddressNotImplementedError",
    "AuditError",
    "AutogradError",
    "BackendError",
    "CompileWarning",
    "DataFileError",
    "DeferredInitializationError",
    "DefinitionError",
    "InferenceError",
    "LeakedTracerError",
    "OperatorError",
    "ParameterFileError",
    "PrecisionWarning",
    "RefusedError",
    "RemoteValuesError",
    "SymbolError",
    "TracedValueError",
    "UnsupportedDtypeError",
]
