"""A picture: drawn in NumPy, saved and read by Pillow, blurred and measured."""

import io

import numpy as np
from PIL import Image, ImageFilter

y, x = np.mgrid[:64, :64]
picture = np.zeros((64, 64, 3), dtype=np.uint8)
picture[..., 0] = 255 * ((x - 32) ** 2 + (y - 32) ** 2 < 400)
picture[..., 1] = x * 4
picture[16:20, :, 2] = 200

file = io.BytesIO()
Image.fromarray(picture).save(file, "PNG")
read = np.asarray(Image.open(io.BytesIO(file.getvalue())))
print("read again:", (read == picture).all(), read.shape, read.dtype)

small = np.array(Image.fromarray(picture).resize((16, 16), Image.Resampling.BOX))
print(small[::5, ::5, 0])
soft = np.array(Image.fromarray(picture).filter(ImageFilter.BoxBlur(2)))
edges = np.abs(np.diff(soft[..., 0].astype(int), axis=1)) > 20
print("edges:", edges.sum(), "mean colour:", soft.mean(axis=(0, 1)).round(2))
