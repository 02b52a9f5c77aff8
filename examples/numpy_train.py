#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small neural network with NumPy on generated digits; about 10 s.

usage: numpy_train.py [SCALE]        (SCALE 0.1 takes a tenth of the time)

What a profile should show: most of the useful work is native time inside NumPy's matrix products,
on the lines of forward() and backward(). One line does not belong there: clip() limits the
gradients of the last layer element by element in a Python loop. It does hardly anything and takes a
good part of the whole run, partly as Python time and partly as native time of NumPy, which makes an
object of each element. `np.clip(gradient, -LIMIT, LIMIT)` does the same in microseconds.
"""
import sys

import numpy as np

SEED = 20260
CLASSES, PIXELS, HIDDEN, BATCH = 10, 400, 256, 32
LEARNING_RATE, LIMIT = 0.5, 0.02


def make_digits(rng, count):
    """Ten blurred prototypes and noisy copies of them, with their labels."""
    prototypes = rng.normal(size=(CLASSES, PIXELS))
    labels = rng.integers(CLASSES, size=count)
    images = prototypes[labels] + rng.normal(scale=5.0, size=(count, PIXELS))
    return images / np.abs(images).max(), labels


def forward(images, first, second):
    """The hidden layer's activations and each class's probability."""
    hidden = np.maximum(images @ first, 0.0)
    scores = hidden @ second
    scores -= scores.max(axis=1, keepdims=True)
    exponents = np.exp(scores)
    return hidden, exponents / exponents.sum(axis=1, keepdims=True)


def backward(images, labels, hidden, probabilities, second):
    """The gradients of both layers' weights for the cross-entropy loss."""
    error = probabilities.copy()
    error[np.arange(len(labels)), labels] -= 1.0
    error /= len(labels)
    second_gradient = hidden.T @ error
    hidden_error = (error @ second.T) * (hidden > 0.0)
    return images.T @ hidden_error, second_gradient


def clip(gradient):
    """Limits each element, the slow way."""
    rows, columns = gradient.shape
    for row in range(rows):
        for column in range(columns):
            gradient[row, column] = min(max(gradient[row, column], -LIMIT), LIMIT)
    return gradient


def train(rng, images, labels, steps):
    first = rng.normal(scale=0.05, size=(PIXELS, HIDDEN))
    second = rng.normal(scale=0.05, size=(HIDDEN, CLASSES))
    for _ in range(steps):
        batch = rng.integers(len(images), size=BATCH)
        hidden, probabilities = forward(images[batch], first, second)
        first_gradient, second_gradient = backward(
            images[batch], labels[batch], hidden, probabilities, second
        )
        first -= LEARNING_RATE * first_gradient
        second -= LEARNING_RATE * clip(second_gradient)
    return first, second


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(SEED)
    images, labels = make_digits(rng, 6000)
    first, second = train(rng, images[:5000], labels[:5000], steps=max(1, int(3200 * scale)))
    _, probabilities = forward(images[5000:], first, second)
    right = (probabilities.argmax(axis=1) == labels[5000:]).mean()
    print(f"right on unseen digits: {right:.0%}")


if __name__ == "__main__":
    main()
