"""What only the HTML says, beside the sentences of `report.words`."""

from __future__ import annotations

from vllmdoctor.languages import marked as _

COPY = _("Copy")
EVIDENCE = _("Evidence")
SHOW_IN_LOG = _("Show line {line} in the log")
MEMORY_TABLE = _("Memory of the GPU as a table")
NUMBERS = _("As a table, with where each number is from")
