"""Functions of packages that Python's functions call: keys, callbacks and operators."""

import contextlib
import heapq
import itertools
import operator
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import cv2
import numpy as np
from scipy.interpolate import CubicSpline
from sklearn.utils import Bunch

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


def check(given, kind):
    return type(given) is kind, given(np.ones(1)).shape if kind is CubicSpline else kind.__name__


curve = CubicSpline(np.arange(4.0), np.arange(4.0))  # is called, but is data here
with ThreadPoolExecutor(1) as pool:
    print(pool.submit(check, curve, CubicSpline).result(), partial(check, curve)(CubicSpline))
    print(pool.submit(isinstance, curve, CubicSpline).result())
print(operator.is_(cv2.add, cv2.add), weakref.ref(CubicSpline)() is CubicSpline)

table = Bunch(data=np.zeros(3))
table["data"][0] = 1
print(
    table["data"],
    table.data,
    isinstance(table["data"], np.ndarray),
    type(table.get("data")) is np.ndarray,
)
