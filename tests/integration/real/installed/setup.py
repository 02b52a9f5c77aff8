# SPDX-License-Identifier: Apache-2.0
from setuptools import Extension, setup

setup(name="installed", version="1", py_modules=["installed"], ext_modules=[Extension("installed_native", ["native.c"])],
      entry_points={"console_scripts": ["installed=installed:main"]})
