"""Functions of packages that Python's functions call: keys, callbacks and operators."""

import contextlib
import heapq
import itertools
import operator
import threading
from functools import partial

import cv2
import numpy as np

images = [np.full((3, 3), i, np.uint8) for i in (3, 1, 2)]
in_order = list(images)
in_order.sort(key=cv2.mean)
print([int(x[0, 0]) for x in in_order])
print([int(x[0, 0]) for x in itertools.accumulate(images, cv2.add)])
print([k for k, _ in itertools.groupby(images, cv2.mean)])
print([int(x[0, 0]) for x in heapq.nlargest(1, images, key=cv2.mean)])
print(operator.call(cv2.mean, images[0]), partial(cv2.add, images[0])(images[1]).sum())

image = np.zeros((5, 5), np.uint8)
timer = threading.Timer(0.01, cv2.rectangle, (image, (1, 1), (3, 3), 9))
timer.start()
timer.join()
print(image.sum())
with contextlib.ExitStack() as stack:
    stack.callback(cv2.rectangle, image, (0, 0), (4, 4), 7)
print(image.sum())
