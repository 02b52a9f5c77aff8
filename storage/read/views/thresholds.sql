-- SPDX-License-Identifier: Apache-2.0
-- The figures to tune of redundant loads and stores: from where on the evidence of watches counts as what. Named by the
-- views from watches.sql to findings.sql.

-- What counts as what; all figures to tune are here.
CREATE VIEW x_threshold AS SELECT
  8 AS high_traps,         -- severity "high": the next access of at least this number of watches was seen, or stores'
                           -- calls had the same long arguments (few watches lower the ends of the intervals, too),
  0.2 AS high_low,         -- this part of the line's time at least is wasted, as the lower end of the interval has it,
  0.25 AS high_part,       -- and this part as the estimate: the longer a run, the nearer the lower end is to it,
  0.05 AS high_share,      -- and the waste is this part of the run's CPU time at least
  8 AS calls_traps,        -- where one call for all takes the place of many, their time is the waste, and what they
                           -- look up again only shows that they do little. Of this number of watches at least,
  0.015 AS calls_waste_low, -- this part of the line's time at least, as the lower end of the interval has it,
  0.1 AS calls_part,       -- and this part as the estimate,
  0.4 AS calls_fraction,   -- and this part of the accesses in short calls, as the lower end;
  4 AS few_traps,          -- or of this number of watches, where the lower end is high_low,
  0.5 AS few_part,         -- and this part of the line's time is looked up again as the estimate
  0.25 AS costly_python,   -- calls cost more than what they do: this part of the line's time is Python code of array
                           -- libraries, which do bulk work in native code,
  0.3 AS costly_short,     -- this part of the loads, by time, is in the last 30 us of calls and no bulk work,
                           -- and the line's calls have other arguments each time
  3 AS few_same,           -- stores: or of this number of compared calls, all had been made before, by arguments and
  0.25 AS few_same_share,  -- result, and they are this part of the run's CPU time
  20 AS thin_watches,      -- loads of own code: with less than this number of watches a line borrows evidence from the
  10 AS lent_watches,      -- other lines of its function, which count as this number of watches at most
  0.45 AS handful_share,   -- API misuse: this part of the accesses at least is no bulk work, at the line and in its
  0.65 AS direct_share,    -- function (this part, where own code makes the calls without Python code of a library, and
  0.25 AS direct_low,      -- this part of the line's time as the lower end): a call for all has to do the bulk work
                           -- of the single ones, too,
  0.2 AS bulk_only, 0.8 AS bulk_hardly, -- less is bulk work only, and not counted; more stands for itself
  0.4 AS pair_fraction,    -- a pair: this part of its accesses at least was redundant
  0.1 AS reuse_share,      -- loads: with less than this part of the time in short calls all is reuse and no waste
  0.2 AS reuse_high,       -- and with no more than this part of it as the upper end: a few watches do not tell
  3 AS category_traps_min, -- a category is named from this number of redundant accesses on
  8 AS returned_traps_min, -- from this number of compared results on, results decide about stores, not memory,
  0.3 AS returned_share,   -- if this part of the line's calls return what can be compared,
  0.3 AS returned_part,    -- or this part of what the line wrote again and again was returned
  0.4 AS returned_fraction, -- this part of the calls at least returned what had been returned before: same_fraction of
                           -- the standard library's, whose calls for one word or number often repeat by chance,
  5e4 AS long_ns,          -- but not by chance where a call takes as long as this: to look its result up costs less
  0.5 AS below_part,       -- and where this part of them is made below the line, by Python code of libraries, which
                           -- looks up the same again whatever the line asks for; both by time and by number
  8 AS values_min,         -- and this number of different values was equal, or the arguments were too, or this number
                           -- of calls had the same long ones: fewer may be so by nature,
  8 AS arguments_min,      -- with this number of compared arguments,
  0.5 AS arguments_same,   -- calls of which less than this part had been made before repeat nothing,
                           -- those of which same_fraction had been made before are the same calls, however much of the
                           -- memory that they write was used for something else in between,
  0.3 AS arguments_new,    -- and those of which more than this part were new are not the same in each round of a loop,
  0.25 AS arguments_again, -- if this part at least had come before the call before: what never comes back was the
                           -- same in all rounds of a loop, which was begun anew for others
  0.3 AS item_share,       -- slice underutilization: this part of the waste at least is at a[i] or iteration, in a loop
  0.1 AS item_put_share,   -- … or this part, and a[i] = x is among it
  0.5 AS copy_share,       -- deep copies: this part of the line's time makes them
  0.5 AS call_share,       -- API misuse: this part of the waste at least is at calls and operators
  0.5 AS values_share,     -- the standard library's native code has no calls for whole arrays, so its own memory (of
                           -- OpenSSL, of SQLite) says nothing about the calls: this part of the waste at least is at
                           -- fields of objects, data of arrays and results, or the category is by what calls returned
  0.9 AS same_fraction,    -- stores, and what calls returned: from here on the calls did what had been done before
  0.4 AS partly_fraction,  -- stores: from here on a part of them did,
  0.3 AS partly_low,       -- with this as the lower end: recycled memory is partly the same by chance
  20 AS mostly_min,        -- of this number of compared calls, values_min of them with long arguments of which a part
                           -- was read, arguments_same at least (low end) had been made before: the arguments decide,
                           -- since of such calls only those that differ count among what calls returned
  0.5 AS loop_share,       -- loop-invariant computation: this part of the waste lies in a loop of the line's function
  0.5 AS bulk_share,       -- inefficient algorithm: this part of the waste is bulk work
  0.7 AS calls_low,        -- where one call for all takes the place of many, their whole time is saved: of 13 programs
  1.2 AS calls_high,       -- of bench/detection/programs, 11 saved 0.81 to 1.16 of it, the others 0.19 and 1.47
  0.8 AS repeat_low,       -- where the same is computed again, the ends of the samples' interval are taken times
  1.75 AS repeat_high,     -- these: 35 programs of bench/detection/programs (18 with packages, 17 with wheels) saved
                           -- 0.84 to 1.71 of the figure, but for three (9 to 12), so 32 are inside, not 6
  3.841458820694124 AS z2; -- of the intervals: the normal quantile for 95 %, squared

-- Those that are asked for once. Columns of the view above are handed on by all levels of findings, which takes time.
CREATE VIEW x_one_threshold AS SELECT
  8 AS own_traps,          -- API misuse, and an element that is fetched in no loop of its function: by this number of
                           -- the line's own watches at least, unless calls cost more than what they do
  0.5 AS values_part,      -- a part was written again: the values that were equal differ from each other in this part
                           -- of the watches at least, as truth values and small categories are equal by nature
  8 AS kept_kinds,         -- what a library computes again is yours to keep, if it is of this number of kinds at most,
  256 AS kept_bytes,       -- is as long as this,
  0.25 AS kept_share;      -- and takes this part of the run: a list is made an array
