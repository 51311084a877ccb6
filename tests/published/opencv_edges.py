# needs: cv2
import cv2
import numpy as np

image = np.zeros((12, 12), dtype=np.uint8)
cv2.rectangle(image, (3, 3), (8, 8), 255, -1)
edges = cv2.Canny(image, 50, 150)
print(image.sum(), (edges > 0).sum(), cv2.resize(image, (6, 6), interpolation=cv2.INTER_AREA))
