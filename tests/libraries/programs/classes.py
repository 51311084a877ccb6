"""Classes that extend those of packages, and arrays that are attributes of their objects."""

import cv2
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans


class Filter(cv2.KalmanFilter):
    def __init__(self):
        super().__init__(2, 1)
        self.transitionMatrix = np.eye(2, dtype="f4")
        for name in ("measurementMatrix",):
            setattr(self, name, np.ones((1, 2), "f4"))
        self.mine = np.ones(2)

    def step(self):
        self.predict()
        self.correct(np.ones((1, 1), "f4"))
        return self.statePost


class Table(pd.DataFrame):
    pass


class Groups(KMeans):
    def fitted(self, x):
        self.given = x
        self.fit(x)
        self.given[0] = 7
        return self


found = Filter()
print(found.step(), found.mine, found.transitionMatrix)
table = Table({"a": np.arange(3.0)})
table["b"] = np.ones(3)
print(table[np.array([True, False, True])])
table.a = np.zeros(3)
print(table)
groups = Groups(n_clusters=2, n_init=1, random_state=0).fitted(np.arange(8.0).reshape(4, 2))
print(groups.given[0], sorted(groups.labels_.tolist()))

values = pd.DataFrame(np.arange(6.0).reshape(3, 2)).values
for name, given, shape in (
    ("sum", (0,), 2),
    ("cumsum", (0,), (3, 2)),
    ("dot", (np.eye(2),), (3, 2)),
):
    out = np.zeros(shape)
    getattr(values, name)(*given, out=out)
    print(name, out)
made = values.copy()
made.cumsum(axis=0, out=made)
print(made, values.sum(), values.tolist())
