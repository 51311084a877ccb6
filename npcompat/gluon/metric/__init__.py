"""Evaluation metrics, accumulated over batches on the host."""

from npcompat.gluon.metric._agreement import (
    MCC,
    PCC,
    MeanCosineSimilarity,
    MeanPairwiseDistance,
    PearsonCorrelation,
)
from npcompat.gluon.metric._base import (
    CompositeEvalMetric,
    CustomMetric,
    EvalMetric,
    alias,
    check_label_shapes,
    create,
    register,
)
from npcompat.gluon.metric._base import of_function as np
from npcompat.gluon.metric._choices import one_hot, predict_with_threshold
from npcompat.gluon.metric._classes import (
    F1,
    Accuracy,
    BinaryAccuracy,
    CrossEntropy,
    Fbeta,
    NegativeLogLikelihood,
    Perplexity,
    TopKAccuracy,
)
from npcompat.gluon.metric._numbers import MAE, MSE, RMSE, Loss, Torch

__all__ = [
    "F1",
    "MAE",
    "MCC",
    "MSE",
    "PCC",
    "RMSE",
    "Accuracy",
    "BinaryAccuracy",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "Fbeta",
    "Loss",
    "MeanCosineSimilarity",
    "MeanPairwiseDistance",
    "NegativeLogLikelihood",
    "PearsonCorrelation",
    "Perplexity",
    "TopKAccuracy",
    "Torch",
    "alias",
    "check_label_shapes",
    "create",
    "np",
    "one_hot",
    "predict_with_threshold",
    "register",
]
