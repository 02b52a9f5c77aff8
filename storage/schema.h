/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The database's schema, as schema.sql, findings.sql, memory.sql and learned.sql have it. */
extern const char pie_schema_sql[];

enum {
    PIE_SCHEMA_APPLICATION_ID = 0x50696550, /* "PieP", PRAGMA application_id */
    PIE_SCHEMA_VERSION = 8,                 /* PRAGMA user_version */
};
