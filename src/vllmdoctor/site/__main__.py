"""`python -m vllmdoctor.site generate|build|serve`: what `make site` and `make serve` run, in a checkout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from vllmdoctor.errors import VllmDoctorError
from vllmdoctor.report.pages import VARIABLE
from vllmdoctor.report.words import Words
from vllmdoctor.site.build import SERVED, SiteError, build
from vllmdoctor.site.context import checkout_root, served_address
from vllmdoctor.site.engine import EngineError
from vllmdoctor.site.generate import generate
from vllmdoctor.site.server import serve


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m vllmdoctor.site", description=f"The address is {VARIABLE}'s value."
    )
    parser.add_argument("what", choices=("generate", "build", "serve"))
    parser.add_argument("--folder", type=Path, help="where to build (default: build/ of the checkout)")
    parser.add_argument("--npm", type=Path, help="the node_modules folder that holds pyodide")
    parser.add_argument("--port", type=int, default=8000)
    chosen = parser.parse_args(arguments)
    root = checkout_root()
    folder = chosen.folder or root / "build"
    try:
        if chosen.what == "generate":
            generate(root, folder, served_address())
        elif chosen.what == "build":
            print(f"built {build(root, folder, served_address(), npm=chosen.npm)} for {served_address()}")
        else:
            serve(folder / SERVED, chosen.port)
    except (SiteError, EngineError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    except VllmDoctorError as problem:
        print(f"error: {': '.join(filter(None, Words().error(problem)))}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
