# SPDX-License-Identifier: Apache-2.0
"""Sends tasks to the workers of celery_app.py and prints what came of them."""

from celery_app import fail, own_descriptors, squares

results = [squares.delay(n * 1000) for n in range(50)]
failed = fail.delay()
print([r.get(timeout=60) for r in results])
print(repr(failed.get(timeout=60, propagate=False)))
print(sorted({r.get(timeout=60) for r in [own_descriptors.delay() for _ in range(20)]}))  # the second worker inherits more
