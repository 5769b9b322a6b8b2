"""vllmdoctor reads a vLLM log, names the root cause of the failure and ranks the fixes.

>>> from vllmdoctor import analyze
>>> report = analyze("startup.log")
>>> report.status, report.headline
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vllmdoctor.report.model import Report

__all__ = ["__version__", "analyze"]


def analyze(
    *logs: str | PathLike[str],
    nvidia_smi: Sequence[str | PathLike[str]] = (),
    language: str = "en",
    redact: bool = True,
) -> Report:
    """Diagnoses log files and returns the report.

    `nvidia_smi` are files with nvidia-smi output of the same machine; `language` is en, vi or ja; `redact` hides
    secrets and personal details in everything that the report quotes. Raises InputError for an input that cannot be
    read.
    """
    from vllmdoctor.analysis import analyze_inputs

    return analyze_inputs(
        [fspath(log) for log in logs],
        nvidia_smi=[fspath(file) for file in nvidia_smi],
        language=language,
        redact=redact,
    )


def __getattr__(name: str) -> str:
    """`__version__`, read only when it is asked for: the lookup costs more than a small diagnosis."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("vllmdoctor")
    except PackageNotFoundError:  # running from a source tree that is not installed
        return "0+unknown"
