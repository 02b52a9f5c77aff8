/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct pie_options;

/* The program without a Python of its own, called as python: the next interpreter of that name on the PATH runs in its
 * place, as an image or a pod has it whose PATH begins with our folder. It is profiled where the environment says so
 * (python_name.h). Whatever is in the way of the profile costs one line, never the program.
 * self: path of this program, or NULL where /proc does not tell. Returns only where there is no interpreter: 127, after
 * a message. Context: launcher. */
int pie_next_python_run(char **argv, const char *self, struct pie_options *options);
