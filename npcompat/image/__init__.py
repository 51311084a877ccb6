"""image: image reading, resizing, cropping, augmentation and batches; MXNet's `mx.image`."""

from npcompat._internal.support import old_paths
from npcompat.image import _augmenters, _cropping, _detection, _iterators, _reading, _usual
from npcompat.image._augmenters import *
from npcompat.image._cropping import *
from npcompat.image._detection import *
from npcompat.image._iterators import *
from npcompat.image._reading import *
from npcompat.image._usual import *
from npcompat.numpy_extension._image_geometry import imrotate, random_rotate

__all__ = ["imrotate", "random_rotate"]
__all__ += _augmenters.__all__
__all__ += _cropping.__all__
__all__ += _detection.__all__
__all__ += _iterators.__all__
__all__ += _reading.__all__
__all__ += _usual.__all__

__getattr__ = old_paths.names_of(__name__)
