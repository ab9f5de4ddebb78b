import numpy as np


def softmax(x, y):
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    y[...] = shifted / shifted.sum(axis=1, keepdims=True)
