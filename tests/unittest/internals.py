"""The one door by which tests reach `npcompat._internal`, so that a file that moves is one line here.

What is not public may change at any time: a test takes from here only what no public name shows.
"""

# ruff: noqa: F401 (imported to be imported from here)

# autograd
from npcompat._internal.autograd import tape, whole_graph

# backend
from npcompat._internal.backend import pillow
from npcompat._internal.backend.conformance import equations
from npcompat._internal.backend.equations import normalise
from npcompat._internal.backend.jax import checkpoints, language, namespace, programs, sharding
from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.backend.jax.kernels import array_functions as jax_array_functions
from npcompat._internal.backend.jax.kernels import signal
from npcompat._internal.backend.jax.random import threefry
from npcompat._internal.backend.jaxpr import (
    compat,
    cpu_product,
    cpu_rewrites,
    loop_bodies,
    ragged_rounds,
    roll_loops,
    tracing,
)
from npcompat._internal.backend.jaxpr.cpu_convolution import FEW, FITS, MUCH, TAPS, product
from npcompat._internal.backend.jaxpr.cpu_rewrites import MANY, SHORT, for_cpu, rewritten
from npcompat._internal.backend.jaxpr.cpu_tables import MANY_REPEATED, OFTEN
from npcompat._internal.backend.jaxpr.independent_rounds import at_once
from npcompat._internal.backend.jaxpr.loop_bodies import SMALL
from npcompat._internal.backend.jaxpr.small_loops import KNOWN, MOST_EQUATIONS, WIDE
from npcompat._internal.backend.kit import simplification
from npcompat._internal.backend.numpy import runtime as host
from npcompat._internal.backend.plugin import registry
from npcompat._internal.compile import jit
from npcompat._internal.compile.capture import capture

# compile
from npcompat._internal.compile.program import Program
from npcompat._internal.compile.recent_calls import rerun_recent
from npcompat._internal.compile.trace import Trace

# core
from npcompat._internal.core import dtypes, modes
from npcompat._internal.core.engine_array import EngineArray
from npcompat._internal.core.fusion_groups import Step, groups
from npcompat._internal.core.graph_node import Node
from npcompat._internal.core.handle import BorrowedValue, Handle, Value
from npcompat._internal.core.op import REGISTRY, Kernel, from_function, operator
from npcompat._internal.core.op_kinds import (
    binary,
    broadcast,
    convolution,
    for_axis,
    pooling,
    reduce_axis,
    unary,
)
from npcompat._internal.core.program_cache import FORWARD
from npcompat._internal.core.retained_outputs import (
    LazyValue,
    RetainedOutputs,
    RetainedValue,
    version_of,
)
from npcompat._internal.core.tensor_type import TensorType, substituted

# dispatch
from npcompat._internal.dispatch import apply as apply_module
from npcompat._internal.dispatch import execution, handles, ownership, writes
from npcompat._internal.dispatch.apply import apply, apply_cached
from npcompat._internal.dispatch.placement import MOST_KNOWN
from npcompat._internal.dispatch.type_inference import infer

# graph
from npcompat._internal.graph import op_serialization, symbolic

# indexing
from npcompat._internal.indexing import host as host_indexing
from npcompat._internal.indexing import parse

# native
from npcompat._internal.native import fast_path

# random
from npcompat._internal.random import prefetched_draws, prefix_draws
from npcompat._internal.random import stream as streams

# support
from npcompat._internal.support import atomic_file
from npcompat._internal.support.call_counter import BoundedCounter
from npcompat._internal.support.errors import (
    AutogradError,
    BackendError,
    CompileWarning,
    DataFileError,
    DeferredInitializationError,
    DefinitionError,
    InferenceError,
    OperatorError,
    ParameterFileError,
    RefusedError,
    SymbolError,
    TracedValueError,
    UnsupportedDtypeError,
)
from npcompat._internal.support.kernel_table import KERNELS, KernelNamespace, register_kernel
