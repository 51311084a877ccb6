"""Optimizers, with MXNet's names, on optax's update rules."""

from npcompat.optimizer._optimizer import Optimizer, Updater, create, get_updater, register
from npcompat.optimizer._rules import NAG, SGD, AdaGrad, Adam, AdamW, RMSProp

__all__ = ["NAG", "SGD", "AdaGrad", "Adam", "AdamW", "Optimizer", "RMSProp", "Updater", "create", "get_updater", "register"]
