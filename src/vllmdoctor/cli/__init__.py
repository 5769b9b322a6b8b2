"""Arguments in, printed text and an exit code out. Everything heavy is imported only by the command that needs it."""

from __future__ import annotations

import sys


def main() -> None:
    """The command `vllmdoctor`; leaves with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from vllmdoctor import __version__

        print(f"vllmdoctor {__version__}")
        return
    from vllmdoctor.cli.app import run

    sys.exit(run())
