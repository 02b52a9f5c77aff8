# SPDX-License-Identifier: Apache-2.0
"""Python functions in the workers of a local Spark."""

import os
import time

from descriptors import descriptors
from pyspark.sql import SparkSession


def own_pid(_):
    time.sleep(0.02)  # two times 25 of them: past the first time that what a process did is stored
    return os.getpid()


if __name__ == "__main__":
    spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
             .config("spark.ui.showConsoleProgress", "false")
             .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    numbers = spark.sparkContext.parallelize(range(200000), 4)
    print(numbers.map(lambda n: n * n).filter(lambda n: n % 3 == 0).sum())
    print(sorted(numbers.map(lambda n: (n % 7, n)).reduceByKey(lambda a, b: a + b).collect()))
    print(set(spark.sparkContext.parallelize(range(2), 2).map(lambda _: descriptors()).collect()))
    workers = set(spark.sparkContext.parallelize(range(100), 4).map(own_pid).collect())
    with open("workers", "w") as file:
        print(*workers, file=file)
    spark.stop()
