"""Handwritten digits: nearest neighbours in NumPy, and a linear model of scikit-learn."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix

digits = load_digits()
pixels, labels = digits.data / 16, digits.target
train, test = np.arange(0, 1000), np.arange(1000, 1300)

distance = (
    (pixels[test] ** 2).sum(1)[:, None]
    - 2 * pixels[test] @ pixels[train].T
    + (pixels[train] ** 2).sum(1)
)
nearest = labels[train][np.argsort(distance, axis=1, kind="stable")[:, :5]]
votes = np.array([np.bincount(row, minlength=10).argmax() for row in nearest])
print("nearest neighbours:", (votes == labels[test]).mean().round(3))

model = LogisticRegression(max_iter=300).fit(pixels[train], labels[train])
found = model.predict(pixels[test])
print("linear model:", (found == labels[test]).mean().round(2))
print(
    "confused:",
    (confusion_matrix(labels[test], votes) - np.diag(np.bincount(labels[test]))).clip(0).sum(),
)
