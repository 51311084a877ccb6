"""Transformations of random variables, and mappings onto the sets of constraints."""

from npcompat.gluon.probability.transformation.domain_map import biject_to, domain_map, transform_to
from npcompat.gluon.probability.transformation.transformation import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftmaxTransform,
    Transformation,
    TransformBlock,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "TransformBlock",
    "Transformation",
    "biject_to",
    "domain_map",
    "transform_to",
]
