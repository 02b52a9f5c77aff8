# SPDX-License-Identifier: Apache-2.0
"""For `meson dist`: a release archive carries the page, so that building from it needs no npm."""

import os
import pathlib
import shutil
import sys

dist = pathlib.Path(os.environ["MESON_SOURCE_ROOT"]) / "web" / "dist"
into = pathlib.Path(os.environ["MESON_DIST_ROOT"]) / "web" / "dist"
into.mkdir(parents=True, exist_ok=True)
for name in "page.html", "page.sources":
    if not (dist / name).is_file():
        sys.exit(f"there is no web/dist/{name}: build once where npm is, before a release")
    shutil.copyfile(dist / name, into / name)
