/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A file that was removed leaves its log behind, and a process of its run may write there still. A new file of that
 * name would share both with it. Where no file is, one is made and the log of the one before loses its name: who has
 * it open keeps it. Of several processes that come at once, only the one that makes the file does. Context: drain. */
void pie_strays_remove(const char *path);
