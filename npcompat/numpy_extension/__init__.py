"""npx: what learning and compilation need beyond NumPy."""

from npcompat._internal.compile_log import Compilation, compile_log
from npcompat.numpy_extension import (
    _array_files,
    _control_flow,
    _jit,
    _modes,
    _nn,
    _nn_activation,
    _nn_conv,
    _nn_norm,
    _nn_selection,
    _nn_special,
)
from npcompat.numpy_extension._array_files import *
from npcompat.numpy_extension._control_flow import *
from npcompat.numpy_extension._jit import *
from npcompat.numpy_extension._modes import *
from npcompat.numpy_extension._nn import *
from npcompat.numpy_extension._nn_activation import *
from npcompat.numpy_extension._nn_conv import *
from npcompat.numpy_extension._nn_norm import *
from npcompat.numpy_extension._nn_selection import *
from npcompat.numpy_extension._nn_special import *

__all__ = ["Compilation", "compile_log"]
__all__ += _array_files.__all__
__all__ += _control_flow.__all__
__all__ += _jit.__all__
__all__ += _modes.__all__
__all__ += _nn.__all__
__all__ += _nn_activation.__all__
__all__ += _nn_conv.__all__
__all__ += _nn_norm.__all__
__all__ += _nn_selection.__all__
__all__ += _nn_special.__all__
