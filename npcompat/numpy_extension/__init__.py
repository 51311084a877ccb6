"""npx: operators for learning, and compilation, in addition to NumPy's.

`npx.image` is imported at its first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from npcompat._internal.core.compile_log import Compilation, compile_log
from npcompat._internal.observe.audit import Event, audit
from npcompat._internal.observe.profile import Profile, profile
from npcompat.numpy_extension import (
    _arithmetic,
    _array_files,
    _attention,
    _boxes,
    _build_info,
    _checks,
    _compilation_cache,
    _control_flow,
    _custom,
    _custom_info,
    _deformable,
    _interchange,
    _jit,
    _modes,
    _multibox,
    _nn,
    _nn_activation,
    _nn_alignment,
    _nn_batch_norm,
    _nn_conv,
    _nn_cumulative,
    _nn_deconv,
    _nn_norm,
    _nn_recurrent,
    _nn_selection,
    _nn_softmax,
    _nn_special,
    _regions,
    _sequences,
    _shaping,
    _sharding,
    _straight_through,
    _window_attention,
    _writing,
    distributed,
    random,
)
from npcompat.numpy_extension._arithmetic import *
from npcompat.numpy_extension._array_files import *
from npcompat.numpy_extension._attention import *
from npcompat.numpy_extension._boxes import *
from npcompat.numpy_extension._build_info import *
from npcompat.numpy_extension._checks import *
from npcompat.numpy_extension._compilation_cache import *
from npcompat.numpy_extension._control_flow import *
from npcompat.numpy_extension._custom import *
from npcompat.numpy_extension._custom_info import *
from npcompat.numpy_extension._deformable import *
from npcompat.numpy_extension._interchange import *
from npcompat.numpy_extension._jit import *
from npcompat.numpy_extension._modes import *
from npcompat.numpy_extension._multibox import *
from npcompat.numpy_extension._nn import *
from npcompat.numpy_extension._nn_activation import *
from npcompat.numpy_extension._nn_alignment import *
from npcompat.numpy_extension._nn_batch_norm import *
from npcompat.numpy_extension._nn_conv import *
from npcompat.numpy_extension._nn_cumulative import *
from npcompat.numpy_extension._nn_deconv import *
from npcompat.numpy_extension._nn_norm import *
from npcompat.numpy_extension._nn_recurrent import *
from npcompat.numpy_extension._nn_selection import *
from npcompat.numpy_extension._nn_softmax import *
from npcompat.numpy_extension._nn_special import *
from npcompat.numpy_extension._regions import *
from npcompat.numpy_extension._sequences import *
from npcompat.numpy_extension._shaping import *
from npcompat.numpy_extension._sharding import *
from npcompat.numpy_extension._straight_through import *
from npcompat.numpy_extension._window_attention import *
from npcompat.numpy_extension._writing import *

if TYPE_CHECKING:
    from npcompat.numpy_extension import image

__all__ = [
    "Compilation",
    "Event",
    "Profile",
    "audit",
    "compile_log",
    "distributed",
    "image",
    "profile",
    "random",
]
__all__ += _arithmetic.__all__
__all__ += _array_files.__all__
__all__ += _attention.__all__
__all__ += _boxes.__all__
__all__ += _build_info.__all__
__all__ += _checks.__all__
__all__ += _compilation_cache.__all__
__all__ += _control_flow.__all__
__all__ += _custom.__all__
__all__ += _custom_info.__all__
__all__ += _deformable.__all__
__all__ += _interchange.__all__
__all__ += _jit.__all__
__all__ += _modes.__all__
__all__ += _multibox.__all__
__all__ += _nn.__all__
__all__ += _nn_activation.__all__
__all__ += _nn_alignment.__all__
__all__ += _nn_batch_norm.__all__
__all__ += _nn_conv.__all__
__all__ += _nn_cumulative.__all__
__all__ += _nn_deconv.__all__
__all__ += _nn_norm.__all__
__all__ += _nn_recurrent.__all__
__all__ += _nn_selection.__all__
__all__ += _nn_softmax.__all__
__all__ += _nn_special.__all__
__all__ += _regions.__all__
__all__ += _sequences.__all__
__all__ += _shaping.__all__
__all__ += _sharding.__all__
__all__ += _straight_through.__all__
__all__ += _window_attention.__all__
__all__ += _writing.__all__


def __getattr__(name: str) -> Any:
    if name == "image":
        return importlib.import_module(f"{__name__}.image")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
