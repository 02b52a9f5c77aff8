/* SPDX-License-Identifier: Apache-2.0 */
/* The least program that embeds Python. What it costs more than the system's python3 is the price of linking
 * libpython into another program; what pieprof costs more than it is pieprof's own. */
#include <Python.h>

int main(int argc, char **argv) {
    return Py_BytesMain(argc, argv);
}
