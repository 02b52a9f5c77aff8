/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Shows a file in a browser: with one of the commands in $BROWSER, separated by ":" (%s in one is the file; without it
 * the file comes last), or else with xdg-open, and waits until it ends, as one on a terminal needs. Returns 0, or
 * -ENOENT: none could be started, or all that were ended with an error. Context: cli. */
int pie_browser_open(const char *file);
