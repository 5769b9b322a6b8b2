"""A good rules folder for each test to spoil."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.helpers import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)
