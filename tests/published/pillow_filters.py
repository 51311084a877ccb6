# needs: PIL
import numpy as np
from PIL import Image, ImageFilter

y, x = np.mgrid[:16, :16]
picture = Image.fromarray(((x * 16 + y) % 256).astype(np.uint8))
blurred = np.asarray(picture.filter(ImageFilter.BoxBlur(1)))
print(blurred.mean().round(6), blurred[3, 4:8], np.array(picture.rotate(90))[0, :4])
print(np.array(picture.resize((4, 4), Image.BILINEAR)))
