# SPDX-License-Identifier: Apache-2.0
"""A program that plays Breakthrough: a search with alpha and beta copies the board by deepcopy for each move."""

import copy
import math
import random

import harness

# The board is a list of lists of numbers, for which slices of the rows are a copy: API misuse.
CATEGORY = "API misuse"
KIND = "store"
SIZE = 6


class Game:
    def __init__(self):
        self.board = [[1] * SIZE, [1] * SIZE, *([0] * SIZE for _ in range(SIZE - 4)), [-1] * SIZE, [-1] * SIZE]
        self.turn = 1

    def moves(self):
        found = []
        for r in range(SIZE):
            for c in range(SIZE):
                if self.board[r][c] == self.turn and 0 <= r + self.turn < SIZE:
                    for dc in (-1, 0, 1):
                        if 0 <= c + dc < SIZE:
                            target = self.board[r + self.turn][c + dc]
                            if target == 0 or dc and target == -self.turn:
                                found.append((r, c, dc))
        return found

    def play(self, move):
        r, c, dc = move
        self.board[r][c] = 0
        self.board[r + self.turn][c + dc] = self.turn
        self.turn = -self.turn

    def after(self, move):
        game = copy.deepcopy(self)  # waste: store
        game.play(move)
        return game

    def winner(self):
        if 1 in self.board[-1]:
            return 1
        if -1 in self.board[0]:
            return -1
        pieces = [piece for row in self.board for piece in row if piece]
        return 0 if 1 in pieces and -1 in pieces else pieces[0]

    def value(self):
        """For the one who plays upwards: pieces, and how far they are."""
        total = 0
        for r, row in enumerate(self.board):
            for piece in row:
                if piece:
                    total += 10 + r * r if piece > 0 else -10 - (SIZE - 1 - r) ** 2
        return total


class FixedGame(Game):
    def after(self, move):
        game = object.__new__(FixedGame)
        game.board, game.turn = [row[:] for row in self.board], self.turn
        game.play(move)
        return game


def search(game, depth, alpha, beta):
    if won := game.winner():
        return 1000.0 * won * game.turn
    if depth == 0:
        return float(game.value() * game.turn)
    best = -math.inf
    for move in game.moves():
        score = -search(game.after(move), depth - 1, -beta, -alpha)
        best = max(best, score)
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    return best


def work(positions, kind):
    rng, found = random.Random(2000), []
    for _ in range(positions):
        game = kind()
        for _ in range(rng.randrange(2, 14)):
            game.play(rng.choice(game.moves()))
            if game.winner():
                break
        found.append(search(game, 3, -math.inf, math.inf))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Game), lambda n: work(n, FixedGame), repeats=220)
