-- SPDX-License-Identifier: Apache-2.0
-- The words of a verdict: the figures that decided it, and what to try. Above categories.sql and advice.sql, below
-- findings.sql.

-- With the figures that decided the category, and what to try.
CREATE VIEW x_explained_finding AS
SELECT DISTINCT *,
  CASE
    WHEN kind = PIE_WATCH_LOAD THEN printf('%d of %d re-reads of %s found the same value, in calls that ended %s later',
      redundant, traps, memory_text, length_text)
    WHEN by_return THEN printf('%d of %d calls returned what the same place had got before', returned_redundant, traps)
      || iif(returned_partly > 0, printf(', and %d the same in half of the data at least', returned_partly), '')
    WHEN returned_traps > 0 THEN printf('%d of %d writes to %s, and values returned, repeated what was there', redundant,
      traps, memory_text)
    ELSE printf('%d of %d writes to %s repeated the value that was there', redundant, traps, memory_text) END
  || iif(lent > 0, printf('; with %d of %d at the other lines of its function', other_redundant, other_traps), '')
  || iif(kind = PIE_WATCH_LOAD AND is_return_decisive, printf('; %.0f %% of what the line''s calls return had been returned before',
    100 * line_again_ns / line_returned_ns), '')
  || coalesce(CASE
    WHEN mostly_low IS NOT NULL THEN '; the arguments decide, since most calls had those of another one'
    WHEN is_reuse THEN printf('; but only %.0f %% of the time is in short calls that look up what objects are like, '
      || 'the rest is in long calls and bulk work, which have to read again', 100 * short_share)
    WHEN lent_redundant < category_traps_min THEN '; these are too few for the evidence to decide'
    WHEN is_by_chance THEN '; but few different values were equal, so this may '
      || 'be a coincidence'
    WHEN is_by_nature THEN '; but these are few different values, such as truth values: what is equal may be so by nature'
    WHEN category = 'inefficient algorithm' AND is_nearly_same THEN '; but all calls that were counted differ by value, so '
      || 'each computes anew what changes in some places only'
    WHEN category = 'inefficient algorithm' AND is_return_decisive THEN '; the calls compute again what they had '
      || 'computed, for the sake of a part'
    WHEN is_repeat AND is_within THEN '; but the calls of your line that leads there have other arguments each time, so '
      || 'there is no result to keep'
    WHEN category = 'API misuse' AND is_copying THEN printf('; for %.0f %% of its time the line makes deep copies, and '
      || 'mostly of what it had copied before', 100.0 * copy_ns / line_ns)
    WHEN category = 'slice underutilization' AND item_ns <= call_ns AND is_of_elements THEN '; of the operations that were '
      || 'counted at the line, at least as many fetched single elements as handled them'
    WHEN category = 'slice underutilization' THEN printf('; for %.0f %% of the time the line was at a[i] or '
      || 'iterating%s', 100 * item_ns / tell_redundant_ns, loop_text)
    WHEN category = 'API misuse' THEN printf('; for %.0f %% of the time the line was calling or computing%s',
      100 * call_ns / tell_redundant_ns, loop_text)
      || iif(is_about_arrays, '', '; the library may have no call for many')
      || iif(is_costly, printf('; %.0f %% of its time is Python code of libraries that work on whole arrays, and %.0f %% of '
        || 'the loads are in short calls, so a call costs more than what it does', 100.0 * array_python_ns / line_ns,
        100 * tell_ns / all_ns), '')
    WHEN category = 'loop-invariant computation' THEN printf('; for %.0f %% of the time the line was in a loop of its '
      || 'function%s', 100 * loop_share_found, iif(is_renewed, ', and arguments that had changed did not come back', ''))
    WHEN category = 'repeated native calls' AND loop_share_found >= loop_share THEN '; the line is in a loop of its '
      || 'function, and the arguments change, but come again'
    WHEN category = 'repeated native calls' THEN printf('; for %.0f %% of the time the line was in no loop of its '
      || 'function, so the function is called again', 100 - 100 * loop_share_found)
    WHEN category = 'inefficient algorithm' THEN printf('; that is %.0f %% of the writes by time, and %.0f %% of it is '
      || 'bulk work', 100 * fraction, 100 * bulk_ns / tell_redundant_ns)
    WHEN native_library IS 'python'
      AND object_ns + array_ns + result_ns < values_share * tell_redundant_ns
      THEN '; most of it is the library''s own memory, which says nothing about what the calls are for'
    WHEN is_other_arguments THEN '; most of its calls have other arguments each time, so they repeat nothing'
    WHEN kind = PIE_WATCH_LOAD THEN '; the line is neither mostly at a[i] nor calling, so the evidence does not decide'
    WHEN fraction < partly_fraction THEN '; most writes changed something, so the evidence does not decide'
    ELSE '; only a part of the writes, and few of them or no bulk work, so the evidence does not decide' END, '')
  || coalesce(arguments_text, '')
  || iif(access_function IS NOT NULL AND access_function IS NOT native_function,
    printf('; %s in %s', iif(kind = PIE_WATCH_LOAD, 'read', 'written'),
      iif(length(access_function) > 80, substr(access_function, 1, 79) || '…', access_function)), '') AS evidence,
  coalesce((
    SELECT a.advice FROM x_advice a WHERE a.about = x.about AND coalesce(x.advice_library, '') GLOB a.library
    ORDER BY length(a.library) DESC LIMIT 1), printf('compare both call paths: ask for "pairs of %s:%d"',
    replace(file_end, rtrim(file_end, replace(file_end, '/', '')), ''), line)) AS advice
FROM (
  SELECT DISTINCT *, substr(file, -255) AS file_end,
  CASE
    WHEN length_ns < 1e3 * redundant THEN printf('%.0f ns', length_ns * 1.0 / redundant)
    WHEN length_ns < 1e6 * redundant THEN printf('%.1f us', length_ns / 1e3 / redundant)
    ELSE printf('%.1f ms', length_ns / 1e6 / redundant) END AS length_text,
  CASE
    WHEN is_reuse THEN 'memory'
    WHEN 2 * object_ns >= tell_redundant_ns THEN 'fields of objects'
    WHEN 2 * array_ns >= tell_redundant_ns THEN 'data of arrays'
    WHEN 2 * result_ns >= tell_redundant_ns THEN 'what calls returned'
    ELSE 'memory of native code' END AS memory_text,
  iif(loop_ns >= loop_share * tell_redundant_ns, ', in a loop', '') AS loop_text, CASE
    WHEN is_reuse THEN 'reuse'
    WHEN category = 'API misuse' AND is_copying THEN 'deep copies'
    WHEN category = 'loop-invariant computation' AND converged_s IS NOT NULL THEN 'converged'
    WHEN category = 'loop-invariant computation'
      AND iif(is_return_decisive, line_again_ns / line_returned_ns, fraction) < same_fraction THEN 'in part'
    ELSE category END AS about
FROM x_weighed_finding) x;
