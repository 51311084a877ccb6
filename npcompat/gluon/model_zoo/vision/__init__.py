"""Networks for images.

Each has `features` and `output`, and computes scores of classes. With pretrained parameters, images
are RGB in [0, 1], normalized with means (0.485, 0.456, 0.406) and standard deviations (0.229,
0.224, 0.225).
"""

from typing import Any

from npcompat._internal.support import old_paths
from npcompat.gluon.block import HybridBlock
from npcompat.gluon.model_zoo.vision import (
    _alexnet,
    _densenet,
    _inception,
    _mobilenet,
    _resnet,
    _squeezenet,
    _vgg,
)
from npcompat.gluon.model_zoo.vision._alexnet import *
from npcompat.gluon.model_zoo.vision._densenet import *
from npcompat.gluon.model_zoo.vision._inception import *
from npcompat.gluon.model_zoo.vision._mobilenet import *
from npcompat.gluon.model_zoo.vision._resnet import *
from npcompat.gluon.model_zoo.vision._squeezenet import *
from npcompat.gluon.model_zoo.vision._vgg import *

_OTHER_NAMES = {
    "inception_v3": "inceptionv3",
    "squeezenet1_0": "squeezenet1.0",
    "squeezenet1_1": "squeezenet1.1",
} | {
    f"mobilenet{version}{width}": f"mobilenet{tag}{width.replace('_', '.')}"
    for version, tag in (("", ""), ("_v2_", "v2_"))
    for width in ("1_0", "0_75", "0_5", "0_25")
}
_MODULES = (_alexnet, _densenet, _inception, _mobilenet, _resnet, _squeezenet, _vgg)
_MODELS = {
    _OTHER_NAMES.get(name, name): getattr(module, name)
    for module in _MODULES
    for name in module.__all__
    if name.islower() and not name.startswith("get_")
}


def get_model(name: str, **kwargs: Any) -> HybridBlock:
    """Return a network by its name.

    Parameters
    ----------
    name : str
        Such as 'resnet18_v1', 'squeezenet1.1' or 'mobilenetv2_0.5'.
    **kwargs
        `pretrained`, `device`, `root`, `classes` and further arguments of the network.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> net = gluon.model_zoo.vision.get_model("mobilenet0.25", classes=10)
    >>> type(net).__name__
    'MobileNet'
    """
    key = name.lower()
    if key not in _MODELS:
        raise ValueError(
            f"get_model: there is no network {name!r}; expected one of {', '.join(sorted(_MODELS))}"
        )
    return _MODELS[key](**kwargs)


__all__ = ["get_model"]
for _module in _MODULES:
    __all__ += _module.__all__

__getattr__ = old_paths.names_of(__name__)
