"""What stands on gluon: a loop for training, with handlers of its events."""

from npcompat.gluon.contrib import estimator

__all__ = ["estimator"]
