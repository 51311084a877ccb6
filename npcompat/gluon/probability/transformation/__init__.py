"""gluon.probability.transformation: transformations of random variables, and those that lead to the
region of a constraint.
"""

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
