"""npx: what learning and compilation need beyond NumPy."""

from npcompat._internal.compile_log import Compilation, compile_log
from npcompat.numpy_extension import _control_flow, _jit, _modes, _nn
from npcompat.numpy_extension._control_flow import *
from npcompat.numpy_extension._jit import *
from npcompat.numpy_extension._modes import *
from npcompat.numpy_extension._nn import *

__all__ = sorted({"Compilation", "compile_log", *_control_flow.__all__, *_jit.__all__, *_modes.__all__, *_nn.__all__})
