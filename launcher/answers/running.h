/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The profile that a running process writes: a file that one of its threads has open, since the collection thread has
 * descriptors of its own, and that says of itself that it is a profile. It is looked for during wait_s, since a program
 * that forks has it open only while it writes. The path (heap), or NULL. Context: cli. */
char *pie_running_profile(long pid, double wait_s);

/* The profile that a subcommand is given: a file, or the pid of a running process ("1234"; a file of that name goes
 * before). The path (heap), or NULL after saying what is wrong, in the command's name. Context: cli. */
char *pie_running_find(const char *command, const char *what);
