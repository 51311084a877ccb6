"""Functions and classes of a program that libraries send to other processes by value."""

import marshal
import types

import dill
import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV


def largest_first(x):
    return np.sort(x)[::-1], len(x)


class NearestMean(ClassifierMixin, BaseEstimator):
    def __init__(self, scale=1):
        self.scale = scale

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([x[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict(self, x):
        apart = ((x[:, None] - self.means_[None]) ** 2).sum(-1) * self.scale
        return self.classes_[np.argmin(apart, axis=1)]


def dtype_of_made():
    return np.ones(1).dtype


if __name__ == "__main__":
    sent = joblib.delayed(largest_first)
    print(joblib.Parallel(n_jobs=2)([sent(np.arange(3) * i) for i in range(2)]))
    print(joblib.Parallel(n_jobs=2)([joblib.delayed(dtype_of_made)() for _ in range(2)]))
    x = np.arange(60.0).reshape(30, 2) % 7
    y = (np.arange(30) % 7 > 3).astype(int)
    search = GridSearchCV(NearestMean(), {"scale": [1, 2]}, n_jobs=2, cv=3).fit(x, y)
    print(search.best_params_, search.best_score_)

    for recurse in (False, True):
        again = dill.loads(dill.dumps(dtype_of_made, recurse=recurse))
        print(again(), dill.loads(dill.dumps(lambda x: largest_first(x), recurse=recurse))(x[0]))
    code = marshal.loads(marshal.dumps(largest_first.__code__))
    print(types.FunctionType(code, globals())(x[1]))
