# SPDX-License-Identifier: Apache-2.0
"""A notebook is run in a kernel of its own."""

import nbformat
from nbclient import NotebookClient

CELLS = ["import sys; from descriptors import descriptors; print(sum(i * i for i in range(1000000)))",
         "import subprocess; print(subprocess.check_output([sys.executable, '-c', 'print(6 * 7)']))", "%%timeit -n 1 -r 1 -q\npass",
         "!echo from a shell", "descriptors()", "sys.exit", "1 / 0"]

notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
for cell in notebook.cells:
    for output in cell.outputs:
        print(output.get("text") or output.get("data") or (output["ename"], output["evalue"]))
