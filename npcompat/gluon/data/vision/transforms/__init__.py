"""Image transforms, as blocks: resizing, cropping, colors, tensors.

They take an image (H, W, C) or a batch (N, H, W, C), unless stated otherwise. Random transforms are
seeded by `np.random.seed`, and draw separately for each image of a batch.
"""

from npcompat.gluon.data.vision.transforms._colors import (
    RandomBrightness,
    RandomColorJitter,
    RandomContrast,
    RandomGray,
    RandomHue,
    RandomLighting,
    RandomSaturation,
)
from npcompat.gluon.data.vision.transforms._containers import (
    Cast,
    Compose,
    HybridCompose,
    HybridRandomApply,
    RandomApply,
)
from npcompat.gluon.data.vision.transforms._geometry import (
    CenterCrop,
    CropResize,
    RandomCrop,
    RandomFlipLeftRight,
    RandomFlipTopBottom,
    RandomResizedCrop,
    RandomRotation,
    Resize,
    Rotate,
)
from npcompat.gluon.data.vision.transforms._tensors import Normalize, ToTensor

__all__ = [
    "Cast",
    "CenterCrop",
    "Compose",
    "CropResize",
    "HybridCompose",
    "HybridRandomApply",
    "Normalize",
    "RandomApply",
    "RandomBrightness",
    "RandomColorJitter",
    "RandomContrast",
    "RandomCrop",
    "RandomFlipLeftRight",
    "RandomFlipTopBottom",
    "RandomGray",
    "RandomHue",
    "RandomLighting",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSaturation",
    "Resize",
    "Rotate",
    "ToTensor",
]
