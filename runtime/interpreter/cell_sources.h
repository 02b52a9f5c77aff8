/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The source of code that was compiled from text and has a name of its own, but no file: cells of Jupyter and IPython,
 * and code that libraries generate. Python's linecache has it too, but only Python code can ask for that; compile() has
 * it in its arguments (methods.h). */

/* Begins to keep such text. Context: gil (Python is initialised). */
void pie_cell_sources_install(void);

/* The text that was compiled last under this name, terminated; NULL: none. Lives as long as the process. Context: drain
 * (and the thread that compiles). */
const char *pie_cell_sources_find(const char *name, size_t *ret_size);
