"""The shipped rules in, the literals that large inputs are searched for out: what ripgrep is given to look for."""

from __future__ import annotations

import sys

from vllmdoctor.analysis import scan_literals
from vllmdoctor.rules.load import load_catalogue

if __name__ == "__main__":
    sys.stdout.buffer.write(b"\n".join(scan_literals(load_catalogue())) + b"\n")
