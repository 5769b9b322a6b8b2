"""A folder in, a web server for it on this machine out: for looking at the site, and for its tests."""

from __future__ import annotations

import functools
import http.server
from pathlib import Path

from vllmdoctor.errors import InputError


class Handler(http.server.SimpleHTTPRequestHandler):
    """Knows the types that browsers insist on."""

    extensions_map = {  # noqa: RUF012 (the base class has it so)
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".js": "text/javascript",
        ".wasm": "application/wasm",
        ".json": "application/json",
    }


class QuietHandler(Handler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def server_of(folder: Path, port: int = 0, *, quiet: bool = False) -> http.server.ThreadingHTTPServer:
    """On this machine only; port 0 takes a free one. Raises OSError when the port is taken."""
    handler = functools.partial(QuietHandler if quiet else Handler, directory=str(folder))
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)


def serve(folder: Path, port: int) -> None:
    """Serves the built site until it is interrupted. Raises InputError when it was not built."""
    if not (folder / "index.html").is_file():
        raise InputError(str(folder), "holds no site", "Run `make site` first")
    with server_of(folder, port) as server:
        print(f"http://127.0.0.1:{server.server_port}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
