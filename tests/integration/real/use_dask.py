# SPDX-License-Identifier: Apache-2.0
"""A cluster of two processes."""

import re

import dask.array
import numpy as np
from dask.distributed import Client, LocalCluster
from descriptors import descriptors


def work(n):
    return float(np.sqrt(np.arange(n * 1000, dtype=float)).sum().round(6))


if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1") as cluster:
        with Client(cluster) as client:
            print(sum(client.gather(client.map(work, range(200)))))
            print(float(dask.array.arange(4000000, chunks=500000).std().compute().round(6)))
            # How many sockets join the workers depends on which of them had what the other needs.
            print(sorted({re.sub(r" socket \d+", "", text) for text in client.run(descriptors).values()}))
