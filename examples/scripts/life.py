"""Game of life on a torus: a glider comes back after it has crossed the board."""

import numpy as np


def neighbours(board):
    found = np.zeros(board.shape, dtype=int)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            if down or right:
                found += np.roll(board, (down, right), axis=(0, 1))
    return found


def step(board):
    around = neighbours(board)
    return ((around == 3) | ((board == 1) & (around == 2))).astype(int)


board = np.zeros((8, 8), dtype=int)
board[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
first = board.copy()
for _ in range(32):
    board = step(board)
print(board)
print("back again:", (board == first).all(), "cells:", board.sum())
