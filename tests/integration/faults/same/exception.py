# SPDX-License-Identifier: Apache-2.0
"""An exception that nobody catches, with a cause."""


def inner():
    return {}["missing"]


try:
    inner()
except KeyError as error:
    raise ValueError("outer") from error
