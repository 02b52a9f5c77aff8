# SPDX-License-Identifier: Apache-2.0
"""A classifier of messages, trained once and then asked about one message after the other."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import harness

CATEGORY = "API misuse"
KIND = "load"


def messages(rng, count):
    labels = rng.integers(2, size=count)
    return rng.normal(size=(count, 30)) + 0.4 * labels[:, None], labels


def labels_of(scaler, model, samples):
    labels = []
    for sample in samples:
        scaled = scaler.transform(sample.reshape(1, -1))  # waste: load
        labels.append(model.predict(scaled)[0])  # waste: load
    return np.array(labels)


def labels_of_fixed(scaler, model, samples):
    return model.predict(scaler.transform(samples))


def work(repeats, classify):
    rng = np.random.default_rng(12)
    samples, labels = messages(rng, 4000)
    scaler = StandardScaler().fit(samples)
    model = LogisticRegression(C=0.1).fit(scaler.transform(samples), labels)
    right = []
    for _ in range(repeats):
        tests, truth = messages(rng, 1000)
        right.append(np.mean(classify(scaler, model, tests) == truth))
    return right


if __name__ == "__main__":
    harness.main(lambda n: work(n, labels_of), lambda n: work(n, labels_of_fixed), repeats=72)
