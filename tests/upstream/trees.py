"""A small vLLM for tests: a few files with messages of every kind, and the same messages as a table."""

from __future__ import annotations

from pathlib import Path

from vllmdoctor.rules.model import Signature
from vllmdoctor.rules.versions import VersionRange
from vllmdoctor.upstream.templates import COLUMNS

KV_CACHE = """
from vllm.logger import init_logger

logger = init_logger(__name__)


def check_memory(needed, available, max_model_len, config):
    if available <= 0:
        raise ValueError("No available memory for the cache blocks. "
                         "Try increasing `gpu_memory_utilization`.")
    if needed > available:
        raise ValueError(f"max seq len ({max_model_len}) needs {needed / 2**30:.2f} GiB, "
                         f"only {available / 2**30:.2f} GiB of {config.device!r} are left")
    logger.warning("Block size %d is unusual for %s", config.block_size, config.device)
    logger.warning_once("Only once")


class Planner:
    def plan(self, groups):
        msg = f"Cannot unify {len(groups)} groups."
        if not groups:
            msg += " There are none at all."
        assert groups, "a plan without any group"
        if len(groups) > 3:
            raise NotImplementedError(msg)
        raise TypeError("groups of {} and {} differ".format(groups[0], groups[1]))
"""
CONFIG = '''
class Config:
    """No text of a docstring is a message of vLLM."""

    def verify(self):
        try:
            pass
        except Exception as e:
            logger.exception("Verification of %s failed", self.name)
            raise ValueError(str(e)) from e
        raise VLLMValidationError(parameter="n", message="n must be at least 1, got " + str(self.n))
'''
BROKEN = "def this is no Python(:\n"


def small_vllm(folder: Path, version: str = "0.9.1") -> Path:
    """The folder that holds `vllm/`."""
    files = {
        "vllm/__init__.py": "",
        "vllm/_version.py": f"__version__ = version = '{version}'\n" if version else "",
        "vllm/v1/core/kv_cache_utils.py": KV_CACHE,
        "vllm/config/model.py": CONFIG,
        "vllm/model_executor/models/broken.py": BROKEN,
        "vllm/tests/test_it.py": "raise ValueError('a message of a test, not of the program')\n",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def table(folder: Path, *rows: tuple[str, ...]) -> Path:
    path = folder / "messages.tsv"
    path.write_text("\n".join("\t".join(row) for row in (COLUMNS, *rows)) + "\n", encoding="utf-8")
    return path


def row(
    text: str, first: str, last: str, file: str = "vllm/config/model.py", exception: str = "ValueError"
) -> tuple[str, ...]:
    return ("raise", exception, file, "verify", text, first, last)


def signature(
    pattern: str,
    sample: str = "",
    *,
    versions: str = ">=0.2.0",
    raised: tuple[str, ...] = ("vllm/config/model.py",),
    scope: str = "error",
    unless: str = "",
    frames: str = "",
) -> Signature:
    from vllmdoctor.rules.literals import required_literals

    return Signature(
        pattern,
        scope,
        (sample,) if sample else (),
        literals=required_literals(pattern),
        unless=unless,
        versions=VersionRange.parse(versions),
        raised=raised,
        frames=frames,
    )
