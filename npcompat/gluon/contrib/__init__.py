"""Extensions of gluon: a training loop with event handlers."""

from npcompat.gluon.contrib import estimator

__all__ = ["estimator"]
