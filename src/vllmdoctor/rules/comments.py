"""What comments look like in the pieces of Python and YAML that a fix adds: they are told in the user's language."""

from __future__ import annotations

import re

# On a line of its own, or behind two spaces as both languages ask for.
COMMENT = re.compile(r"(?P<mark>(?:^ *|  )# )(?P<comment>.+)$", re.MULTILINE)
