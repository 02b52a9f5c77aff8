/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The source form of a symbol's name: C++ and Rust names demangled, suffixes taken off. Compilers append suffixes to
 * the name when they clone a function (".part.0", ".cold", ".lto_priv.3"), linkers for its version ("@@GLIBC_2.34").
 * Returns a new string for the caller to free, NULL if memory ran out. Never fails otherwise: a name that cannot be
 * demangled stays as it is. Context: drain, cli. */
char *pie_demangle(const char *symbol);

/* One of demangle_iberty.c, demangle_none.c: the demangled name, new, or NULL if it is not mangled. */
char *pie_demangle_mangled(const char *symbol);
