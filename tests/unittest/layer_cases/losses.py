"""Cases of `gluon.loss`."""

from layer_cases.case import layer
from npcompat.gluon import loss

layer("loss.L1Loss", lambda: loss.L1Loss(weight=3.0), "3,4", "3,4")
layer("loss.L2Loss", loss.L2Loss, "3,4", "3,4", "3,1 positive")
layer("loss.HuberLoss", lambda: loss.HuberLoss(rho=0.7), "3,4", "3,4")
layer("loss.HingeLoss", loss.HingeLoss, "3,4", "3,4")
layer("loss.SquaredHingeLoss", lambda: loss.SquaredHingeLoss(2), "3,4", "3,4")
layer("loss.LogisticLoss", lambda: loss.LogisticLoss(label_format="binary"), "3,4", "3,4 fraction")
layer("loss.TripletLoss", lambda: loss.TripletLoss(margin=0.5), "3,4", "3,4", "3,4", loose=3)
layer(
    "loss.SigmoidBinaryCrossEntropyLoss",
    loss.SigmoidBCELoss,
    "3,4",
    "3,4 fraction",
    "3,4 positive",
    "3,4 positive",
)
layer("loss.SoftmaxCrossEntropyLoss", loss.SoftmaxCELoss, "3,4", "3 index4 int64")
layer(
    "loss.SoftmaxCrossEntropyLoss",
    lambda: loss.SoftmaxCELoss(axis=1, sparse_label=False),
    "3,4,2",
    "3,4,2 fraction",
)
layer("loss.KLDivLoss", lambda: loss.KLDivLoss(from_logits=False), "3,4", "3,4 fraction")
layer(
    "loss.PoissonNLLLoss",
    lambda: loss.PoissonNLLLoss(compute_full=True),
    "3,4",
    "3,4 above1",
    mixes=True,
)
layer(
    "loss.CosineEmbeddingLoss",
    lambda: loss.CosineEmbeddingLoss(margin=0.1),
    "3,4",
    "3,4",
    "3 nonzero",
)
layer("loss.CTCLoss", loss.CTCLoss, "3,5,4", "3,2 index3 int64", loose=3)
layer("loss.SDMLLoss", loss.SDMLLoss, "3,4", "3,4", mixes=True, loose=3)
