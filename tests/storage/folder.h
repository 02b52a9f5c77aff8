/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A fresh folder for one test. */
const char *pie_folder_make(void);
/* The same as a cmocka test's set-up and tear-down; pie_folder_database(): "a.db" in the present test's folder. */
int pie_folder_set_up(void **state);
int pie_folder_tear_down(void **state);
const char *pie_folder_database(void);
/* PATH/NAME in a static buffer of which there are eight, used in turn. */
const char *pie_folder_path(const char *folder, const char *name);
void pie_folder_remove(const char *folder);
/* Writes a text file, with the folders above it. */
void pie_folder_write(const char *folder, const char *name, const char *text);
/* Runs body in a child process that is not root, and returns what it returned (0 to 255). */
int pie_folder_as_nobody(int (*body)(void));
