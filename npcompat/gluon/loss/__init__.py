"""Losses: blocks that return one number for each sample of a batch."""

from npcompat.gluon.loss._base import Loss
from npcompat.gluon.loss._classification import (
    HingeLoss,
    KLDivLoss,
    LogisticLoss,
    SigmoidBCELoss,
    SigmoidBinaryCrossEntropyLoss,
    SoftmaxCELoss,
    SoftmaxCrossEntropyLoss,
    SquaredHingeLoss,
)
from npcompat.gluon.loss._ctc import CTCLoss
from npcompat.gluon.loss._embedding import CosineEmbeddingLoss, SDMLLoss, TripletLoss
from npcompat.gluon.loss._regression import HuberLoss, L1Loss, L2Loss, PoissonNLLLoss

__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SDMLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]
