/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The profile that a running process writes: a file that one of its threads has open, since the collection thread has descriptors
 * of its own, and that says of itself that it is a profile. It is looked for during wait_s, since a program that forks has it
 * open only while it writes. The path (heap), or NULL. Context: cli. */
char *pie_running_profile(long pid, double wait_s);
