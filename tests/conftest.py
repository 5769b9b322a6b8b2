"""What all tests share: quick, repeatable property tests; a terminal of fixed size; the checkout's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("quick")


# What is built once for many tests, by the tests that need it. The site is built by two workers: its tests take longest.
TOGETHER = {
    "tests/site/browser/test_analyze.py": "site with the analyzer",
    "tests/site/browser/test_privacy.py": "site with the analyzer",
    "tests/site/browser/test_search.py": "site with the analyzer",
    "tests/site/browser/": "site",
    "tests/site/test_build.py": "site",
    "tests/site/test_engine.py::TestInNode": "engine",
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker runs all tests of a group; single tests go to whoever is free."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((group for start, group in TOGETHER.items() if nodeid.startswith(start)), nodeid)

    return Together(config, log)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds pyproject.toml."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's own terminal settings must not decide a test."""
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "NO_COLOR", "VLLMDOCTOR_PURE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("VLLMDOCTOR_LANG", "en")
