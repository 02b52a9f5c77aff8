/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The sliced tables, for statements that add rows up: columns of the key behind (process, slice_s), sums, and the rule
 * by which sums of one key are added. */
/* What readers add up of `sample`, in the order of their structs: whole numbers. */
#define PIE_COST_SUMS "samples, python_ns, native_ns, system_ns, wait_ns, runnable_ns, throttled_ns"
#define PIE_COST_SUMS_DECLARED                                                                               \
    "samples INTEGER, python_ns INTEGER, native_ns INTEGER, system_ns INTEGER, wait_ns INTEGER,"             \
    " runnable_ns INTEGER, throttled_ns INTEGER"
enum { PIE_COST_SUM_COUNT = 7 };

#define PIE_SAMPLE_KEY "thread, node"
#define PIE_SAMPLE_SUMS                                                                                      \
    "samples, wait_samples, python_ns, native_ns, system_ns, wait_ns, runnable_ns, throttled_ns, cpu_sq_ns2"
#define PIE_SAMPLE_ADD                                                                                       \
    " ON CONFLICT DO UPDATE SET samples = samples + excluded.samples,"                                       \
    " wait_samples = wait_samples + excluded.wait_samples, python_ns = python_ns + excluded.python_ns,"      \
    " native_ns = native_ns + excluded.native_ns, system_ns = system_ns + excluded.system_ns,"               \
    " wait_ns = wait_ns + excluded.wait_ns, runnable_ns = runnable_ns + excluded.runnable_ns,"               \
    " throttled_ns = throttled_ns + excluded.throttled_ns, cpu_sq_ns2 = cpu_sq_ns2 + excluded.cpu_sq_ns2"
#define PIE_WAIT_ADD                                                                                         \
    " ON CONFLICT DO UPDATE SET wait_ns = wait_ns + excluded.wait_ns, looks = looks + excluded.looks,"       \
    " is_rest = max(is_rest, excluded.is_rest)"
#define PIE_TASK_COLUMNS "process, thread, node, coroutine, cause, name, wait_ns, cpu_ns"
#define PIE_TASK_ADD                                                                                         \
    " ON CONFLICT DO UPDATE SET wait_ns = wait_ns + excluded.wait_ns, cpu_ns = cpu_ns + excluded.cpu_ns"
#define PIE_SPENT_KEY "collector"
#define PIE_SPENT_SUMS "cpu_ns"
#define PIE_SPENT_ADD " ON CONFLICT DO UPDATE SET cpu_ns = cpu_ns + excluded.cpu_ns"
#define PIE_RELATED_KEY "thread, node, kind"
#define PIE_RELATED_SUMS "time_ns"
#define PIE_RELATED_ADD " ON CONFLICT DO UPDATE SET time_ns = time_ns + excluded.time_ns"
#define PIE_WATCH_KEY                                                                                        \
    "kind, outcome, memory, traits, length, first_node, second_node, own_operation, inner_operation"
#define PIE_WATCH_SUMS "watches, bytes, weight_ns, weight_sq_ns2, length_ns, gap_ns, array_bytes, round_ns"
#define PIE_WATCH_ADD                                                                                        \
    " ON CONFLICT DO UPDATE SET watches = watches + excluded.watches, bytes = bytes + excluded.bytes,"       \
    " weight_ns = weight_ns + excluded.weight_ns, weight_sq_ns2 = weight_sq_ns2 + excluded.weight_sq_ns2,"   \
    " length_ns = length_ns + excluded.length_ns, gap_ns = gap_ns + excluded.gap_ns,"                        \
    " array_bytes = array_bytes + excluded.array_bytes, round_ns = round_ns + excluded.round_ns"
#define PIE_READING_SUMS "samples, cpu_ns, cpu_sq_ns2, same, rises, others, lower_ns, upper_ns, sum_size"
#define PIE_ALLOCATED_KEY "node"
#define PIE_ALLOCATED_SUMS "samples, python_bytes, native_bytes, sq_bytes2"
#define PIE_ALLOCATED_ADD                                                                                    \
    " ON CONFLICT DO UPDATE SET samples = samples + excluded.samples,"                                       \
    " python_bytes = python_bytes + excluded.python_bytes,"                                                  \
    " native_bytes = native_bytes + excluded.native_bytes, sq_bytes2 = sq_bytes2 + excluded.sq_bytes2"
#define PIE_COPY_KEY "node, estimate"
#define PIE_COPY_SUMS "samples, bytes, sq_bytes2"
#define PIE_COPY_ADD                                                                                         \
    " ON CONFLICT DO UPDATE SET samples = samples + excluded.samples,"                                       \
    " bytes = bytes + excluded.bytes, sq_bytes2 = sq_bytes2 + excluded.sq_bytes2"
#define PIE_COPY_END_ADD                                                                                     \
    " ON CONFLICT DO UPDATE SET copies = copies + excluded.copies, bytes = bytes + excluded.bytes"
#define PIE_INSERT_INTO(table, key, sums) "INSERT INTO " table " (process, slice_s, " key ", " sums ")"

/* The same tables in packed form (storage/file/packed_tables.h): rows of one block become a value. */
#define PIE_PACK_SAMPLE(thread, node)                                                                        \
    "pack_sample(" thread ", " node ", python_ns, native_ns, system_ns, samples, runnable_ns, wait_ns, "     \
    "wait_samples, throttled_ns, cpu_sq_ns2)"
#define PIE_PACK_ALLOCATED(node) "pack_allocated(0, " node ", python_bytes, native_bytes, samples, sq_bytes2)"
#define PIE_PACK_COPY(node) "pack_copy(estimate, " node ", bytes, samples, sq_bytes2)"
