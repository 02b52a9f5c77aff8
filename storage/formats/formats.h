/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "storage/formats/export.h"

/* The formats, each as `write` of struct pie_export_format has it. Context: cli. */

#ifdef PIE_HAS_PROTOBUF
#define PIE_PPROF_MISSING NULL
#else
#define PIE_PPROF_MISSING "protobuf-c and zlib"
#define pie_export_pprof NULL
#endif

typedef int pie_export_fn(FILE *out, struct pie_reader *reader, const struct pie_export_choice *choice,
                          char **ret_message);

pie_export_fn pie_export_callgrind;
pie_export_fn pie_export_collapsed;
pie_export_fn pie_export_csv;
pie_export_fn pie_export_firefox;
pie_export_fn pie_export_json;
pie_export_fn pie_export_markdown;
#ifdef PIE_HAS_PROTOBUF
pie_export_fn pie_export_pprof;
#endif
pie_export_fn pie_export_pstats;
pie_export_fn pie_export_speedscope;
/* All of the file, with the views of the questions. */
pie_export_fn pie_export_sqlite;
pie_export_fn pie_export_svg;
pie_export_fn pie_export_trace;
