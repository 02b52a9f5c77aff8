-- SPDX-License-Identifier: Apache-2.0
-- Where calls of own code come again, whose library does not matter. (The program of a query holds all rows of what it
-- asks, so views that need only these do without those below.)
CREATE VIEW x_advice_again AS
SELECT column1 AS about, column2 AS advice
FROM (VALUES
  ('repeated native calls', 'keep the result and use it again, in a variable or with functools.lru_cache'),
  ('loop-invariant computation', 'compute it once before the loop: each round gets the same result'),
  ('costly calls', 'look for a call that does less for each value (a parser of this one format, fields instead of a deep '
    || 'copy), or for one that takes many values'),
  ('single elements', 'handle many elements with one call instead of each with a call of its own'),
  ('deep copies', 'copy only the part that will be changed (a dict of its own with {**old, key: value}), make the '
    || 'object anew, or unpickle each copy from bytes that are pickled once'),
  ('recursion', 'keep each result by its arguments (functools.lru_cache), or fill a table from the smallest cases on'));

-- For any library.
CREATE VIEW x_advice_any AS
SELECT about, advice FROM x_advice_again
UNION ALL
SELECT column1, column2
FROM (VALUES
  ('slice underutilization', 'handle many elements with one call instead of each with a call of its own'),
  ('API misuse', 'make one call for all of them, where the library has one'),
  ('converged', 'stop the loop as soon as a round changes nothing: from then on each round gives the same'),
  ('in part', 'a part of it is the same in each round: compute that part once before the loop'),
  ('inefficient algorithm', 'update only what changes instead of computing all of it anew, or take an '
    || 'algorithm that does'),
  ('growing copies', 'collect the parts in a list and join them once behind the loop (b"".join), or write into '
    || 'a bytearray or io.StringIO'),
  ('shifts', 'take items from the end of the list, keep them in a collections.deque, or delete many with one slice'),
  ('searched list', 'keep the items in a set, or in a dict where something belongs to them: a test there does not '
    || 'search'),
  ('slices of slices', 'keep an index, or take items from a collections.deque, instead of copying what is left'),
  ('growing argument', 'keep what was worked out so far and add only what is new: a running total or maximum, '
    || 'itertools.accumulate, update() of a hash, bisect.insort for what is sorted'),
  ('sorted again', 'put the new item where it belongs with bisect.insort, or keep a heap (heapq)'),
  ('joined items', 'append to a list; where it must be a tuple, make it once behind the loop'),
  ('chosen again', 'keep the items in a heap (heapq), or in order (bisect.insort), so that the next one is found '
    || 'without looking at all of them'),
  ('patterns in turn', 'search once for all of them: one pattern with alternatives (a|b|c), or one for each word with '
    || 'a function that looks it up in a dict'),
  ('skipped items', 'go on with one iterator, or make a list once and take slices of it'),
  ('text made into code', 'call compile() once for each text, keep the code objects in a dict, and give these to eval() or '
    || 'exec(); a function of its own or a lambda is faster still'),
  ('lists made into arrays', 'make an array of each list once (numpy.array), keep it, and hand on the array'),
  ('arrays of zeros', 'choose rows by their numbers instead of a product with ones and zeros (table[i], an embedding), '
    || 'multiply rows or columns instead of making a diagonal, or keep what is not zero (scipy.sparse)'),
  ('systems of zeros', 'solve it by its shape: scipy.linalg.solve_banded or solveh_banded for a few diagonals, '
    || 'scipy.sparse.linalg.spsolve for scattered elements'),
  ('lists of arrays', 'make one array of them first: torch.from_numpy(numpy.stack(arrays))'),
  ('numbers of slices', 'read all of them with one call: numpy.frombuffer with a dtype such as ">i2" (and a step, if other '
    || 'fields lie between), struct.iter_unpack, or memoryview.cast'),
  ('single numbers', 'unpack all fields with one format, all records with struct.iter_unpack, or numbers of one kind '
    || 'with array.array or memoryview.cast'),
  ('reader of one line', 'give all lines to one csv.reader(): it takes any iterator of lines'),
  ('fill', 'assign to the slice: a[i:j] = b[k:l], or = [x] * (j - i), or bytes([x]) * (j - i); with a step: a[i:j:step]'),
  ('fold', 'handle the slice with one call: sum(), max(), count() or a method of the text'),
  ('whole re-reads', 'perhaps one pass does for all rounds: sort the data once and search it, count or sum by group '
    || 'at once, or make an index'),
  ('reuse', 'such work has to read its data again; if memory limits the speed, work on blocks that fit the '
    || 'cache, or fuse steps'));

-- What to try, by library and by what was found. One advice is one row; the row whose library fits most closely counts.
-- library: a pattern (GLOB) of the distribution or else of the library's file. about: a category, or what stands in
-- x_explained_finding.about.
CREATE VIEW x_advice AS
SELECT '*' AS library, about, advice FROM x_advice_any
UNION ALL
SELECT column1, column2, column3
FROM (VALUES
  ('numpy', 'slice underutilization', 'work on slices or whole arrays (vectorise) instead of one element at a time; '
    || 'where single elements are needed, convert once with .tolist()'),
  ('scipy', 'slice underutilization', 'work on slices or whole arrays (vectorise) instead of one element at a time; '
    || 'of a sparse matrix take .indptr, .indices and .data'),
  ('pandas', 'slice underutilization', 'work on whole columns, with masks and merge; where single elements are '
    || 'needed, take .to_numpy() or .tolist() once before the loop'),
  ('*torch*', 'slice underutilization', 'use operations on whole tensors; where single numbers are needed, call '
    || '.tolist() once'),
  ('jax*', 'slice underutilization', 'use operations on whole arrays or jax.vmap; where single numbers are needed, '
    || 'call .tolist() once'),
  ('[Pp]illow*', 'slice underutilization', 'take numpy.asarray(image) once and work on that array, not pixel by '
    || 'pixel'),
  ('scikit-learn', 'slice underutilization', 'predict or transform all rows with one call'),
  ('pyarrow', 'slice underutilization', 'use pyarrow.compute on whole columns; where single values are needed, call '
    || '.to_pylist() once'),
  ('[Ss]hapely', 'slice underutilization', 'give arrays of geometries to one call; for many tests use an STRtree'),
  ('lxml', 'slice underutilization', 'find all elements with one XPath expression or one pass over the tree'),
  ('numpy', 'API misuse', 'make one call for whole arrays (the array''s method or a ufunc); for single numbers use '
    || 'plain Python numbers and the math module'),
  ('scipy', 'API misuse', 'make one call for whole arrays; for single numbers use plain Python numbers and the math '
    || 'module'),
  ('pandas', 'API misuse', 'make one call for whole columns or frames (masks, merge, groupby) instead of one for '
    || 'each row'),
  ('*torch*', 'API misuse', 'make one call for a whole tensor; for single numbers use plain Python numbers'),
  ('jax*', 'API misuse', 'make one call for a whole array, inside one jax.jit'),
  ('[Pp]illow*', 'API misuse', 'take numpy.asarray(image) once and make one call for the whole array'),
  ('matplotlib', 'API misuse', 'give all points or numbers to one call (Path.contains_points takes an array)'),
  ('scikit-learn', 'API misuse', 'predict or transform all rows with one call: each call checks its input anew'),
  ('pyarrow', 'API misuse', 'use pyarrow.compute on whole columns'),
  ('[Ss]hapely', 'API misuse', 'give arrays of geometries to one call, or prepare() the geometry that is tested '
    || 'often'),
  ('lxml', 'API misuse', 'find all elements with one XPath expression or one pass over the tree'),
  ('arrow', 'API misuse', 'for many dates use datetime: datetime.fromisoformat(), or strptime() with one format'),
  ('*sqlite*', 'API misuse', 'use one statement for many rows: executemany(), a join or IN (...), in one transaction'),
  ('regex', 'API misuse', 'compile the pattern once, and join alternatives into one pattern'),
  ('*sqlite*', 'repeated native calls', 'ask once for all rows (a join, or IN (...)) and look them up in a dict'),
  ('lxml', 'repeated native calls', 'look the elements up once and keep them in a dict'),
  ('numpy', 'growing copies', 'collect the parts in a list and call numpy.concatenate once behind the loop, or make '
    || 'the array as large at once as it will become'),
  ('*torch*', 'growing copies', 'collect the parts in a list and call torch.cat once behind the loop, or make the '
    || 'tensor as large at once as it will become'),
  ('pandas', 'growing copies', 'collect the rows in a list and make one DataFrame of it, or call pandas.concat once '
    || 'behind the loop'),
  ('numpy', 'growing argument', 'work out all of them with one call for the whole array (numpy.cumsum, cumprod, '
    || 'maximum.accumulate), or keep the last result and add only what is new'),
  ('*torch*', 'growing argument', 'work out all of them with one call for the whole tensor (torch.cumsum, cumprod, '
    || 'cummax), or keep the last result and add only what is new'),
  ('numpy', 'whole re-reads', 'perhaps one pass does for all rounds: numpy.bincount or numpy.unique for groups, '
    || 'numpy.sort with searchsorted for limits, or an index made once'),
  ('pandas', 'whole re-reads', 'perhaps one pass does for all rounds: groupby, value_counts, merge, or an index made once'));

-- Libraries whose calls take whole arrays, columns, images or tables, so that one takes the place of many.
CREATE VIEW x_array_library AS
SELECT column1 AS library
FROM (VALUES ('numpy'), ('scipy'), ('pandas'), ('*torch*'), ('jax*'), ('[Pp]illow*'), ('scikit-*'), ('pyarrow'),
  ('[Ss]hapely'), ('matplotlib'), ('numexpr'), ('polars*'), ('xarray'), ('opencv*'), ('cupy*'), ('tensorflow*'),
  ('tables'), ('h5py'), ('numba'), ('statsmodels'), ('astropy'));

-- Functions of libraries that take one element, row or call of a Python function at a time, by their qualified names:
-- what a line does most of its time is known by these alone (elements.sql). has_called: what they call counts as well.
-- Without a category: what does bulk work when it is called for the first element.
CREATE VIEW x_element_function AS
SELECT column1 AS library, column2 AS function, column3 AS category, column3 IS NOT 'API misuse' AS has_called
FROM (VALUES
  ('[Pp]illow*', '*getpixel', 'slice underutilization'), ('[Pp]illow*', '*putpixel', 'slice underutilization'),
  ('[Pp]illow*', '*ImageFile.load*', NULL), -- reads the image's file
  ('pandas', '*_ScalarAccessIndexer.*', 'slice underutilization'), ('pandas', '_AtIndexer.*', 'slice underutilization'),
  ('pandas', 'DataFrame.iterrows', 'slice underutilization'),
  ('numpy', 'ndenumerate.*', 'slice underutilization'), ('numpy', 'ndindex.*', 'slice underutilization'),
  ('numpy', 'vectorize.*', 'API misuse'), ('numpy', 'apply_along_axis', 'API misuse'),
  ('pandas', 'FrameColumnApply.*', 'API misuse'),
  ('matplotlib', 'Path.contains_point', 'API misuse'),
  -- distances of two vectors: cdist() and pdist() work out those of many
  ('scipy', 'euclidean', 'API misuse'), ('scipy', 'sqeuclidean', 'API misuse'), ('scipy', 'cosine', 'API misuse'),
  ('scipy', 'cityblock', 'API misuse'), ('scipy', 'chebyshev', 'API misuse'), ('scipy', 'minkowski', 'API misuse'));
