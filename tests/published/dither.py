import numpy as np

image = np.linspace(0, 1, 48).reshape(6, 8).copy()
for y in range(6):
    for x in range(8):
        old = image[y, x]
        new = np.round(old)
        image[y, x] = new
        error = old - new
        if x + 1 < 8:
            image[y, x + 1] += error * 7 / 16
        if y + 1 < 6:
            image[y + 1, x] += error * 5 / 16
print(image.round(3).astype(int))
