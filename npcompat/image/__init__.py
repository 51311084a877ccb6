"""image: pictures from files, resized, cropped and recoloured, augmenters of them, and batches; MXNet's `mx.image`."""

from npcompat.image import _cropping, _reading
from npcompat.image._cropping import *
from npcompat.image._reading import *
from npcompat.numpy_extension._image_geometry import imrotate, random_rotate

__all__ = ["imrotate", "random_rotate"]
__all__ += _cropping.__all__
__all__ += _reading.__all__
