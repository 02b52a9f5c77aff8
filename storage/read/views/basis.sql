-- SPDX-License-Identifier: Apache-2.0
-- What findings rest on, in order of rank: one row for each of enum pie_basis. Below all views that find something.

-- access: the kind of access that the finding is about; that of watches is their own. is_alone: where no basis of
-- higher rank stands at the line, the line has no other finding. Beside one that is not alone stand those of other
-- bases, and what the line's watches say of loads. done_again: what is done again, for people; of watches the category
-- decides it.
CREATE VIEW x_basis AS
SELECT column1 AS basis, column2 AS access, column3 AS is_alone, column4 AS done_again
FROM (VALUES
  (PIE_BASIS_WATCHES, NULL, 1, NULL),
  (PIE_BASIS_COPIES, PIE_WATCH_STORE, 0, 'copied again'),
  (PIE_BASIS_SHIFTS, PIE_WATCH_STORE, 0, 'moved again'),
  (PIE_BASIS_READS, PIE_WATCH_LOAD, 1, 'read again'),
  (PIE_BASIS_ELEMENTS, PIE_WATCH_LOAD, 1, 'looked up again'),
  (PIE_BASIS_PUTS, PIE_WATCH_STORE, 1, 'set one by one'),
  (PIE_BASIS_SAME_CALLS, PIE_WATCH_STORE, 0, 'computed again'),
  (PIE_BASIS_CALLS, PIE_WATCH_STORE, 1, 'computed again'),
  (PIE_BASIS_SEARCHES, PIE_WATCH_LOAD, 1, 'read again'),
  (PIE_BASIS_SLICES, PIE_WATCH_STORE, 1, 'copied again'),
  (PIE_BASIS_COUNTED_SHIFTS, PIE_WATCH_STORE, 1, 'moved again'),
  (PIE_BASIS_CODE, PIE_WATCH_STORE, 1, 'computed again'),
  (PIE_BASIS_LISTS, PIE_WATCH_STORE, 1, 'converted again'),
  (PIE_BASIS_ZEROS, PIE_WATCH_LOAD, 1, 'multiplied by zero'),
  (PIE_BASIS_SYSTEMS, PIE_WATCH_LOAD, 1, 'worked out from zeros'),
  (PIE_BASIS_ARRAYS, PIE_WATCH_LOAD, 1, 'taken number by number'));
