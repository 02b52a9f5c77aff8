/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* The tables of a file, as tables.sql has them, and the views of storage/read/views that give them their meaning. The
 * views are the reader's; no file has them. */
extern const char pie_tables_sql[], pie_views_sql[];

/* PRAGMA user_version is 100 * major + minor. A file of the same major version is read, whatever its minor version:
 * unknown parts are ignored, and missing ones have their defaults. */
enum {
    PIE_SCHEMA_APPLICATION_ID = 0x50696550, /* "PieP", PRAGMA application_id */
    PIE_SCHEMA_MAJOR = 11,
    PIE_SCHEMA_MINOR = 8,
    PIE_SCHEMA_VERSION = 100 * PIE_SCHEMA_MAJOR + PIE_SCHEMA_MINOR,
    PIE_SCHEMA_FIRST = 6,      /* that can be read */
    PIE_SCHEMA_LAST_PLAIN = 8, /* before there were minor versions */
    PIE_SCHEMA_FIRST_MAJOR = 9,
};

enum pie_schema_age {
    PIE_SCHEMA_SAME, /* of this major version, and not older */
    PIE_SCHEMA_OLD,  /* older: it is read in a copy, whose new tables and columns have their defaults */
    PIE_SCHEMA_DEAD, /* of a version before the first that can be read */
    PIE_SCHEMA_NEW,
    PIE_SCHEMA_NONE, /* no version at all */
};

/* Context: drain, cli. */
enum pie_schema_age pie_schema_age(int64_t user_version);

enum { PIE_SCHEMA_VERSION_BYTES = 48 };
/* "8", "9.0"; returns text. */
const char *pie_schema_print_version(int64_t user_version, char text[PIE_SCHEMA_VERSION_BYTES]);
