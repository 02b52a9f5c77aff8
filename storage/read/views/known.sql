-- SPDX-License-Identifier: Apache-2.0
-- Lines of own code that spend their time in a call of which a quicker one is known. Samples of time tell that, and
-- nothing says how much it saves, so such a finding is never high. Above time.sql, below windows.sql, which names it
-- where nothing else decides.

-- All figures to tune are here.
CREATE VIEW x_known_threshold AS SELECT
  20 AS samples,           -- a line is named if this number of its samples met such a call,
  0.5 AS part,             -- this part of its time (windows.sql)
  0.1 AS run_part,         -- and this part of the run's CPU time;
  0.5 AS saved;            -- half of it stands for what the quicker one saves

-- Functions by their qualified names, and what to take instead. library: a pattern, as of x_advice. Calls that are slow
-- for each element stand in x_element_function.
CREATE VIEW x_known_function AS
SELECT column1 AS library, column2 AS function, column3 AS category, column4 AS advice
FROM (VALUES
  ('numpy', 'convolve', 'inefficient algorithm', 'its time grows with the product of both lengths: for two long arrays '
    || 'take scipy.signal.fftconvolve or oaconvolve'),
  ('numpy', 'correlate', 'inefficient algorithm', 'its time grows with the product of both lengths: for two long '
    || 'arrays take scipy.signal.correlate with method="fft"'),
  ('scipy', 'convolve2d', 'inefficient algorithm', 'its time grows with the product of both sizes: for a large kernel '
    || 'take scipy.signal.fftconvolve, for one that is a product of two vectors two passes'),
  ('scipy', 'correlate2d', 'inefficient algorithm', 'its time grows with the product of both sizes: for a large kernel '
    || 'take scipy.signal.fftconvolve with the kernel turned round'),
  ('scipy', 'cdist', 'inefficient algorithm', 'it works out all pairs: where only near ones are wanted, ask a '
    || 'scipy.spatial.cKDTree'),
  ('scipy', 'pdist', 'inefficient algorithm', 'it works out all pairs: where only near ones are wanted, ask a '
    || 'scipy.spatial.cKDTree (query_pairs)'),
  ('numpy', 'kron', 'inefficient algorithm', 'a product with it is that of its factors in turn, on the data in another '
    || 'shape'),
  ('scipy', 'expm', 'inefficient algorithm', 'where it is only multiplied with vectors, take '
    || 'scipy.sparse.linalg.expm_multiply'),
  ('numpy', 'inv', 'API misuse', 'to solve a system take numpy.linalg.solve, or factor the matrix once '
    || '(scipy.linalg.lu_factor, cho_factor)'),
  ('scipy', 'inv', 'API misuse', 'to solve a system take scipy.linalg.solve, or factor the matrix once (lu_factor, '
    || 'cho_factor)'),
  ('numpy', 'einsum', 'API misuse', 'of three operands or more give optimize=True; a product of matrices is quicker '
    || 'by @ or numpy.matmul, which work in blocks'),
  ('numpy', 'polyfit', 'API misuse', 'give all series as columns of one array, fit a line by its sums, or slide the '
    || 'fit along with scipy.signal.savgol_filter'),
  ('numpy', 'apply_along_axis', 'API misuse', 'it calls a Python function for each row: give the array to functions '
    || 'with an axis'),
  ('numpy', 'append', 'inefficient algorithm', 'each call copies all of it: collect the parts in a list and call '
    || 'numpy.concatenate once'),
  ('numpy', 'insert', 'inefficient algorithm', 'each call copies all of it: make all changes with one call'),
  ('numpy', 'delete', 'inefficient algorithm', 'each call copies all of it: mark what goes in a mask, and take the '
    || 'rest once'),
  ('numpy', '_array_str_implementation', 'API misuse', 'text of an array is made number by number: make it only where '
    || 'it is shown (logging''s own arguments with %s), or by tofile() or savetxt() of a whole one'),
  ('numpy', '_array_repr_implementation', 'API misuse', 'text of an array is made number by number: make it only where '
    || 'it is shown, and take tobytes() as a key'),
  ('numpy', 'array2string', 'API misuse', 'text of an array is made number by number: make it only where it is shown'),
  ('numpy', 'loadtxt', 'API misuse', 'read text with pandas.read_csv, or keep the data in a binary file (numpy.save)'),
  ('numpy', 'genfromtxt', 'API misuse', 'read text with pandas.read_csv, or keep the data in a binary file '
    || '(numpy.save)'),
  ('numpy', 'savetxt', 'API misuse', 'keep the data in a binary file (numpy.save), or write it with '
    || 'DataFrame.to_csv'),
  ('numpy', 'pinv', 'API misuse', 'to solve a system take numpy.linalg.lstsq or solve, or keep the result'),
  ('scipy', 'quad', 'API misuse', 'it calls a Python function for each point: take quad_vec, or fixed_quad or weights '
    || 'of your own on arrays of points'),
  ('scipy', 'rv_continuous.pdf', 'API misuse', 'give it all numbers as one array: a call checks its parameters anew'),
  ('scipy', 'rv_continuous.logpdf', 'API misuse', 'give it all numbers as one array: a call checks its parameters '
    || 'anew'),
  ('scipy', 'rv_continuous.cdf', 'API misuse', 'give it all numbers as one array (or to scipy.special.ndtr and its '
    || 'like): a call checks its parameters anew'),
  ('scipy', 'rv_continuous.ppf', 'API misuse', 'give it all numbers as one array (or to scipy.special.ndtri and its '
    || 'like): a call checks its parameters anew'),
  ('scipy', 'rv_discrete.pmf', 'API misuse', 'give it all numbers as one array: a call checks its parameters anew'),
  ('scipy', 'generic_filter', 'API misuse', 'it calls a Python function for each element: take a filter of '
    || 'scipy.ndimage, or numpy.lib.stride_tricks.sliding_window_view and one operation'),
  ('pandas', 'Rolling.apply', 'API misuse', 'it calls a Python function for each window: put it together from rolling '
    || 'sums, means and covariances, or give engine="numba"'),
  ('pandas', 'Expanding.apply', 'API misuse', 'it calls a Python function for each row: take cumsum, cummax or the '
    || 'expanding window''s own methods'),
  ('pandas', 'GroupBy._python_apply_general', 'API misuse', 'it calls a Python function for each group: take the '
    || 'grouped object''s own methods (sum, rank, cumsum, shift), or transform() with their names'),
  ('pandas', 'SeriesApply.apply_standard', 'API misuse', 'it calls a Python function for each element: take operators, '
    || '.str and .dt methods, numpy.select, or map() with a dict'),
  ('pandas', 'DataFrame.applymap', 'API misuse', 'it calls a Python function for each element: take operators on whole '
    || 'columns'),
  ('pandas', 'objects_to_datetime64ns', 'API misuse', 'give to_datetime() the format, and convert each text once '
    || '(cache=True)'),
  ('pandas', 'PythonParser.read', 'API misuse', 'let read_csv() use its C parser: a separator of one character, no '
    || 'skipfooter'),
  ('python', 'literal_eval', 'API misuse', 'it builds a syntax tree of the text: take json.loads for data that other '
    || 'programs write, or a parser of this one format'),
  ('python', '_strptime', 'API misuse', 'take datetime.fromisoformat for ISO dates, or make the numbers of fields at '
    || 'fixed places'),
  ('python', '_asdict_inner', 'API misuse', 'dataclasses.asdict() copies deeply: take vars(object), or name the fields '
    || 'that are wanted'),
  ('python', '_make_iterencode.<locals>._iterencode_dict', 'API misuse', 'json with indent, or through dump(), is '
    || 'written by Python code: call dumps() without indent, which is written by C code'),
  ('python', '_make_iterencode.<locals>._iterencode_list', 'API misuse', 'json with indent, or through dump(), is '
    || 'written by Python code: call dumps() without indent, which is written by C code'),
  ('python', 'PrettyPrinter._format', 'API misuse', 'pprint works out the width of each part again: take json.dumps, '
    || 'or repr() for what nobody reads'),
  ('python', '_exact_ratio', 'API misuse', 'statistics adds exact fractions: take statistics.fmean, math.fsum or '
    || 'NumPy'),
  ('python', '_sum', 'API misuse', 'statistics adds exact fractions: take statistics.fmean, math.fsum or NumPy'),
  ('python', '_ss', 'API misuse', 'statistics adds exact fractions: take NumPy, or sums of your own'),
  ('python', 'SequenceMatcher.find_longest_match', 'inefficient algorithm', 'difflib compares each pair anew: leave '
    || 'out pairs by their length and quick_ratio(), and keep one set_seq2() for many set_seq1()'),
  ('python', 'stack', 'API misuse', 'inspect.stack() reads the source of all callers: take sys._getframe'),
  ('python', 'namedtuple', 'repeated native calls', 'make the class once, at the top of the module'),
  ('python', '_process_class', 'repeated native calls', 'make the class once, at the top of the module'),
  ('python', '_parse_sub', 'repeated native calls', 'patterns are compiled again and again: re keeps 512 of them; '
    || 'compile each once and keep it'),
  ('python', 'IPv4Address.__init__', 'API misuse', 'compare addresses as whole numbers (struct.unpack of '
    || 'socket.inet_aton), and networks by a mask'),
  ('python', 'shlex.read_token', 'API misuse', 'shlex reads letter by letter: split simple lines with str.split or one '
    || 'regular expression'),
  ('python', 'ExpatBuilder.parseFile', 'API misuse', 'take xml.etree.ElementTree or lxml in place of minidom, whose '
    || 'nodes are made by Python code'),
  ('python', 'ExpatBuilder.parseString', 'API misuse', 'take xml.etree.ElementTree or lxml in place of minidom, whose '
    || 'nodes are made by Python code'),
  ('python', 'HTMLParser.goahead', 'API misuse', 'take lxml.html, which parses in native code'),
  ('python', 'DictReader.__next__', 'API misuse', 'take csv.reader and the numbers of the columns, or pandas.read_csv'),
  ('PyYAML', 'Scanner.fetch_more_tokens', 'API misuse', 'give Loader=yaml.CSafeLoader, which is C code'),
  ('*dateutil*', 'parser.parse', 'API misuse', 'take datetime.fromisoformat for ISO dates, or strptime() with one '
    || 'format'),
  ('sympy', 'Basic.subs', 'API misuse', 'make a function of the expression once (sympy.lambdify), and call it with '
    || 'arrays'),
  ('sympy', 'EvalfMixin.evalf', 'API misuse', 'make a function of the expression once (sympy.lambdify), and call it '
    || 'with arrays'),
  ('requests', 'request', 'API misuse', 'send all requests through one requests.Session, which keeps its connections'),
  ('[Pp]illow*', 'ImageDraw.point', 'slice underutilization', 'set pixels in a NumPy array, and make an image of it '
    || 'once'));

-- By line of own code, the one that takes most. Functions come first, as for x_element_process.
CREATE VIEW x_known_line AS
SELECT x.run, x.file, x.line, x.library, x.function AS known, x.category AS known_category, x.advice AS known_advice,
  x.known_ns, t.part AS known_part, t.run_part AS known_run_part, t.saved
FROM (
  SELECT p.run, f.path AS file, l.line, fu.library, e.function, e.category, e.advice, sum(c.samples) AS samples,
    sum(c.python_ns + c.native_ns + c.system_ns) * 1.0 AS known_ns, row_number() OVER (
      PARTITION BY p.run, f.path, l.line ORDER BY sum(c.python_ns + c.native_ns + c.system_ns) DESC, e.function) AS nth
  FROM function v CROSS JOIN x_known_function e ON e.function = v.name
  CROSS JOIN file fu ON fu.process = v.process AND fu.id = v.file AND fu.library GLOB e.library
  CROSS JOIN process p ON p.id = v.process
  CROSS JOIN x_call_time c ON c.process = p.id AND c.kind = 6 AND c.function = v.id
  JOIN place(l, u, f) AT (c.process, c.location)
  WHERE v.kind = PIE_LOCATION_PYTHON
  GROUP BY p.run, f.path, l.line, fu.library, e.function) x
JOIN x_known_threshold t
WHERE x.nth = 1 AND x.samples >= t.samples;
