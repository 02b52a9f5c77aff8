# SPDX-License-Identifier: Apache-2.0
"""NumPyCNN: one convolution with three filters over a random image. PieProf's fix computes the two halves of the
filter's size before the loops; `invariant` does so to the source by replacing the text of one statement."""

import pathlib
import sys
import time
import types

import numpy

HALVES = (("numpy.uint16(numpy.floor(filter_size/2.0))", "below"), ("numpy.uint16(numpy.ceil(filter_size/2.0))", "above"))
PLACE = "    result = numpy.zeros((img.shape))\n"

path = pathlib.Path(sys.argv[1]) / "NumPyCNN.py"
text = path.read_text()
if "invariant" in sys.argv[2:]:
    for expression, name in HALVES:
        text = text.replace(expression, name)
    if text.count(PLACE) != 1:
        raise SystemExit(f"{path} is another version than the one this was written for")
    text = text.replace(PLACE, PLACE + "".join(f"    {name} = {expression}\n" for expression, name in HALVES))
module = types.ModuleType("NumPyCNN")
exec(compile(text, str(path), "exec"), module.__dict__)
random = numpy.random.RandomState(1)
began = time.process_time()
maps = module.conv(random.random_sample((420, 420)), random.random_sample((3, 3, 3)))
elapsed = time.process_time() - began
print(float(maps.sum()), elapsed)
