import numpy as np

board = np.zeros((8, 8), dtype=int)
board[1::2, ::2] = 1
board[::2, 1::2] = 1
print(board)
print(np.tile(np.array([[0, 1], [1, 0]]), (4, 4)).sum(axis=0))
