# SPDX-License-Identifier: Apache-2.0
"""A film recommender: to serve one user, the likeness of all users to all others is computed."""

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import cosine_similarity

import harness

# The ratings do not change while users are served, and each of them uses one row: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
USERS, FILMS = 700, 1200


def ratings(rng):
    taste = rng.normal(size=(USERS, 5))
    films = rng.normal(size=(FILMS, 5))
    seen = sparse.random(USERS, FILMS, density=0.04, random_state=np.random.RandomState(int(rng.integers(2**31))), format="coo")
    stars = np.clip(np.round(3.0 + (taste[seen.row] * films[seen.col]).sum(axis=1)), 1, 5)
    return sparse.csr_matrix((stars, (seen.row, seen.col)), shape=seen.shape)


def recommend(matrix, user, k=25, count=10):
    similarity = cosine_similarity(matrix)  # waste: store
    return top_films(matrix, similarity[user], user, k, count)


def top_films(matrix, likeness, user, k, count):
    """What the k most similar users rate best."""
    order = np.argsort(-likeness, kind="stable")
    near = order[order != user][:k]
    weights = likeness[near]
    score = weights @ matrix[near].toarray()
    score[matrix[user].indices] = -1.0
    best = np.argsort(-score, kind="stable")[:count]
    return best, score[best]


def serve(matrix, users):
    return [recommend(matrix, user) for user in users]


def serve_fixed(matrix, users):
    similarity = cosine_similarity(matrix)
    return [top_films(matrix, similarity[user], user, 25, 10) for user in users]


def work(days, server):
    rng, found = np.random.default_rng(35), []
    for _ in range(days):
        matrix = ratings(rng)
        for best, score in server(matrix, rng.integers(USERS, size=15)):
            found.append([score.sum(), len(set(best.tolist()))])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, serve), lambda n: work(n, serve_fixed), repeats=26)
