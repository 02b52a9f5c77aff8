# SPDX-License-Identifier: Apache-2.0
import sys

import installed_native


def main():
    print("installed", sys.executable, sum(map(installed_native.twice, range(100000))))
