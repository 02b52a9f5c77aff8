/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Can processes lock parts of this file against each other? Network file systems without a lock service, and some
 * others, refuse. SQLite takes that for a lock that somebody else holds, and waits. A file that was not there is made,
 * and stays where it can be locked. Only where this process has no lock on the file: asking ends them. Returns 0 (also
 * where it cannot be told), or -ENOLCK. Context: drain, cli. */
int pie_locking_check(const char *path);
