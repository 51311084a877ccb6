"""npx.image: image functions that can be compiled, and all names of `npcompat.image`."""

from npcompat import image
from npcompat.image import *
from npcompat.numpy_extension import _image_color, _image_geometry
from npcompat.numpy_extension._image_color import *
from npcompat.numpy_extension._image_geometry import *

__all__: list[str] = []
__all__ += image.__all__
__all__ += _image_color.__all__
__all__ += [name for name in _image_geometry.__all__ if name not in image.__all__]
