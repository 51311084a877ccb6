"""Metrics: numbers that are gathered over batches, on the host."""

from npcompat.gluon.metric._base import CompositeEvalMetric, CustomMetric, EvalMetric, alias, check_label_shapes, create, register
from npcompat.gluon.metric._classes import F1, Accuracy, CrossEntropy, Fbeta, Perplexity, TopKAccuracy
from npcompat.gluon.metric._numbers import MAE, MSE, RMSE, Loss

__all__ = [
    "F1",
    "MAE",
    "MSE",
    "RMSE",
    "Accuracy",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "Fbeta",
    "Loss",
    "Perplexity",
    "TopKAccuracy",
    "alias",
    "check_label_shapes",
    "create",
    "register",
]
