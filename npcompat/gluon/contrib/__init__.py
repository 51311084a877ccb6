"""Extensions of gluon: a training loop with event handlers."""

from npcompat._internal.support import old_paths
from npcompat.gluon.contrib import estimator

__all__ = ["estimator"]

__getattr__ = old_paths.names_of(__name__)
