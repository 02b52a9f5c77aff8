# SPDX-License-Identifier: Apache-2.0
"""Tasks over a broker that is a folder."""

import os
import time

import celery
from descriptors import descriptors

FOLDER = os.environ["CELERY_FOLDER"]
app = celery.Celery("celery_app", broker="filesystem://", backend="file://" + FOLDER + "/results")
app.conf.broker_transport_options = {"data_folder_in": FOLDER + "/queue", "data_folder_out": FOLDER + "/queue",
                                     "control_folder": FOLDER + "/control"}


@app.task
def squares(number):
    return sum(i * i for i in range(number))


@app.task
def fail():
    raise ValueError("as asked")


@app.task
def own_descriptors():
    time.sleep(0.1)  # so that each worker has its turn
    return descriptors()
