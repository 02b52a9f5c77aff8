/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "launcher/python/python.h"

/* What pie_python_read() takes from the program's ELF file. Context: cli, launcher. */

enum pie_python_elf_fault {
    PIE_PYTHON_ELF_OK,
    PIE_PYTHON_ELF_SCRIPT,  /* begins with "#!" */
    PIE_PYTHON_ELF_NO_ELF,  /* neither ELF nor a script, or damaged */
    PIE_PYTHON_ELF_MACHINE, /* for another machine than x86-64, or 32 bits, or no program */
    PIE_PYTHON_ELF_ALONE,   /* no dynamic linker: nothing can be loaded into it */
    PIE_PYTHON_ELF_OTHER, /* neither libpython nor symbols of CPython: another program, or a stripped CPython */
    PIE_PYTHON_ELF_PYPY,
    PIE_PYTHON_ELF_OLD, /* CPython before 3.11; minor is 0 where it contains CPython */
};

/* Fills all but the paths, from a file open for reading. */
enum pie_python_elf_fault pie_python_elf_read(int fd, struct pie_python *python);
