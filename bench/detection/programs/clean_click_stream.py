# SPDX-License-Identifier: Apache-2.0
"""A model of which advertisements are clicked learns from a stream of events; their features are hashed in batches."""

import itertools
import random

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier

import harness

BATCH = 400


def events(random_source):
    """Features of an event, and whether it was a click; tastes change as time goes by."""
    for number in itertools.count():
        place, device = random_source.randrange(60), random_source.choice(["phone", "desk", "tablet"])
        topic, hour = random_source.randrange(200), number // 500 % 24
        features = {f"place={place}": 1, device: 1, f"topic={topic}": 1, f"hour={hour}": 1}
        features[f"{device} x {topic % 10}"] = 1
        features["age"] = random_source.random()
        chance = 0.05 + 0.4 * ((topic + number // 20_000) % 7 == place % 7) + 0.2 * (device == "phone")
        yield features, random_source.random() < chance


def learn(batches, hasher, model):
    """How well each batch was foreseen before the model learned from it."""
    right = []
    for batch in batches:
        rows, clicks = zip(*batch)
        inputs, labels = hasher.transform(rows), np.array(clicks)
        if right:
            right.append(np.mean(model.predict(inputs) == labels))
        else:
            right.append(0.5)
        model.partial_fit(inputs, labels, classes=[False, True])
    return right


def work(repeats):
    stream = events(random.Random(1994))
    batches = (list(itertools.islice(stream, BATCH)) for _ in range(repeats))
    model = SGDClassifier(loss="modified_huber", alpha=1e-5, random_state=7)
    right = learn(batches, FeatureHasher(n_features=2**14), model)
    return [*right, np.abs(model.coef_).sum()]


if __name__ == "__main__":
    harness.main(work, repeats=8_000)
