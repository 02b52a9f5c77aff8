/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <Python.h>

/* _walk.Probe: an object that takes a sample whenever an operator is applied to it or it is called, and keeps the last
 * one in its attribute `last`. */
int probe_add_type(PyObject *module);

/* walk_host.c: what _walk.sample() returns. */
PyObject *walk_host_sample(void);
