"""Optimizers under MXNet's names, on optax's update rules."""

from npcompat._internal.support import old_paths
from npcompat.optimizer import _adaptive, _descent, _layerwise, _optax, _optimizer, _rules, _updater
from npcompat.optimizer._adaptive import *
from npcompat.optimizer._descent import *
from npcompat.optimizer._layerwise import *
from npcompat.optimizer._optax import *
from npcompat.optimizer._optimizer import *
from npcompat.optimizer._rules import *
from npcompat.optimizer._updater import *

__all__ = []
__all__ += _adaptive.__all__
__all__ += _descent.__all__
__all__ += _layerwise.__all__
__all__ += _optax.__all__
__all__ += _optimizer.__all__
__all__ += _rules.__all__
__all__ += _updater.__all__

__getattr__ = old_paths.names_of(__name__)
