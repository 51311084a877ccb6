"""Labels of losses: numbers of classes in every dtype, and those that are none."""

import numpy as onp
import pytest

from npcompat import gluon, np


@pytest.mark.parametrize(
    "dtype", ["uint8", "uint16", "uint32", "int8", "int16", "int64", "float32"]
)
@pytest.mark.parametrize("hybridized", [False, True])
def test_labels_of_narrow_dtypes(dtype, hybridized):
    pred = np.array(onp.random.RandomState(0).normal(size=(2, 200)), dtype="float32")
    largest = 127 if dtype == "int8" else 199
    losses = gluon.loss.SoftmaxCELoss(), gluon.loss.SoftmaxCELoss(ignore_index=255)
    for loss in losses if hybridized else ():
        loss.hybridize()
    wanted = losses[0](pred, np.array([3, largest])).tolist()
    for loss in losses:
        assert loss(pred, np.array([3, largest], dtype=dtype)).tolist() == wanted
    if not dtype.startswith("u"):
        for loss in losses:
            with pytest.raises(IndexError, match="expected numbers of classes, from 0 to 199"):
                loss(pred, np.array([3, -1], dtype=dtype)).asnumpy()
    if dtype != "int8":
        with pytest.raises(IndexError, match="expected numbers of classes, from 0 to 199"):
            losses[0](pred, np.array([3, 255], dtype=dtype)).asnumpy()
        assert losses[1](pred, np.array([3, 255], dtype=dtype)).tolist() == [wanted[0], 0]
