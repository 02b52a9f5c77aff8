# SPDX-License-Identifier: Apache-2.0
# Macros of storage/*.sql, for embed-text: SQLite cannot write a view of joins into an outer join, so it would be made whole.
#
# `JOIN place(l, u, f) AT (x.process, x.location)`: the location l with its function u and file f.
s/\(LEFT JOIN\|JOIN\) place(\([a-z]*\), \([a-z]*\), \([a-z]*\)) AT (\([a-z]*\.process\), \([a-z_.]*\|coalesce([a-z_., ]*)\))/\1 location \2 ON \2.process = \5 AND \2.id = \6 \1 function \3 ON \3.process = \2.process AND \3.id = \2.function \1 file \4 ON \4.process = \3.process AND \4.id = \3.file/g
#
# `call_path(x.process, x.node)`: a JSON array of the frames that lead to a node, outermost first; of native code that of
# libraries, the innermost, and what was called by Python code.
s/call_path(\([a-z.]*\), \([a-z_.]*\))/(\
  WITH RECURSIVE up (depth, node, location) AS (\
    SELECT 0, n.id, n.location FROM node n WHERE n.process = \1 AND n.id = \2\
    UNION ALL\
    SELECT up.depth + 1, iif(l.caller IS NULL, n.parent, n.id), coalesce(l.caller, m.location)\
    FROM up JOIN node n ON n.process = \1 AND n.id = up.node\
    JOIN location l ON l.process = \1 AND l.id = up.location\
    LEFT JOIN node m ON m.process = \1 AND m.id = n.parent\
    WHERE up.depth < 4096)\
  SELECT '[' || coalesce(group_concat(frame), '') || ']'\
  FROM (\
    SELECT up.depth, f.kind, f.library, f.frame, max(iif(f.kind = PIE_LOCATION_PYTHON, up.depth, NULL)) OVER () AS python_depth\
    FROM up JOIN x_frame f ON f.process = \1 AND f.location = up.location\
    ORDER BY up.depth DESC)\
  WHERE kind = PIE_LOCATION_PYTHON OR depth = 0 OR (library IS NOT 'python' AND depth < coalesce(python_depth, depth + 1)))/g
