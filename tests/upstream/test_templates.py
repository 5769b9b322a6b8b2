"""Tables and source trees become templates; a template falls into its own words and its placeholders."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.upstream.trees import row, small_vllm, table
from vllmdoctor.errors import InputError
from vllmdoctor.upstream.templates import INFO, MESSAGE_KINDS, from_tsv, pieces_of, releases_of
from vllmdoctor.upstream.tree import from_tree, version_of


def shown(text: str) -> list[str]:
    return [f"<{piece.text}>" if piece.placeholder else piece.text for piece in pieces_of(text)]


@pytest.mark.parametrize(
    "text, pieces",
    [
        ("got {value!r}.", ["got ", "<value!r>", "."]),
        ("{', '.join(f'{a}' for a in names)} are left", ["<', '.join(f'{a}' for a in names)>", " are left"]),
        ("chose from { {','.join(names)} }", ["chose from ", "<{','.join(names)}>"]),
        ("%s took %.2f GiB of %(device)s", ["<%s>", " took ", "<%.2f>", " GiB of ", "<device>"]),
        ("at 100% of {n}", ["at 100% of ", "<n>"]),
        ("an open { brace", ["an open { brace"]),
    ],
)
def test_pieces(text: str, pieces: list[str]) -> None:
    assert shown(text) == pieces


@given(st.text(alphabet="ab{}'\"%sd \\", max_size=40))
@settings(max_examples=60, deadline=None)
def test_pieces_lose_nothing_outside_of_placeholders(text: str) -> None:
    pieces = pieces_of(text)
    literals = [piece.text for piece in pieces if not piece.placeholder]
    position = 0
    for literal in literals:
        position = text.index(literal, position) + len(literal)
    if not any(piece.placeholder for piece in pieces):
        assert "".join(literals) == text


def test_a_table(tmp_path: Path) -> None:
    path = table(tmp_path, row("a {b}", "0.9.0", "0.10.2", "vllm/a.py (+3)"), row("c", "0.6.3.post1", "0.9.0"))
    first, second = from_tsv(path)
    assert (first.file, first.moved, first.first, first.last) == ("vllm/a.py", True, (0, 9, 0), (0, 10, 2))
    assert second.first == (0, 6, 3)
    assert not second.moved
    assert releases_of([first, second]) == [(0, 6, 3), (0, 9, 0), (0, 10, 2)]


@pytest.mark.parametrize(
    "content, problem",
    [("a\tb\n", "line 1"), (None, "line 2: 3 columns"), ("", "line 1")],
)
def test_a_wrong_table_names_the_line(tmp_path: Path, content: str | None, problem: str) -> None:
    path = table(tmp_path, ("raise", "x", "y"))
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        from_tsv(path)


def test_a_table_with_a_version_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2"):
        from_tsv(table(tmp_path, row("a", "soon", "later")))


def test_a_tree(tmp_path: Path) -> None:
    found = from_tree(small_vllm(tmp_path))
    messages = {(t.kind, t.exception, t.function, t.text) for t in found if t.kind in MESSAGE_KINDS}
    assert messages == {
        ("raise", "ValueError", "check_memory", "No available memory for the cache blocks. Try increasing `gpu_memory_utilization`."),
        ("raise", "ValueError", "check_memory", "max seq len ({max_model_len}) needs {needed / 2 ** 30:.2f} GiB, only {available / 2 ** 30:.2f} GiB of {config.device!r} are left"),
        ("warning", "", "check_memory", "Block size %d is unusual for %s"),
        ("warning", "warning_once", "check_memory", "Only once"),
        ("raise", "NotImplementedError", "Planner.plan", "Cannot unify {len(groups)} groups."),
        ("raise", "NotImplementedError", "Planner.plan", "Cannot unify {len(groups)} groups. There are none at all."),
        ("raise", "AssertionError", "Planner.plan", "a plan without any group"),
        ("raise", "TypeError", "Planner.plan", "groups of {} and {} differ"),
        ("error", "exception", "Config.verify", "Verification of %s failed"),
        ("raise", "VLLMValidationError", "Config.verify", "n must be at least 1, got {str(self.n)}"),
    }  # fmt: skip
    assert {t.first_version for t in found} == {"0.9.1"}
    assert not any(t.file.startswith("vllm/tests") for t in found)


def test_info_lines_are_no_messages_of_failure(tmp_path: Path) -> None:
    small_vllm(tmp_path)
    (tmp_path / "vllm" / "more.py").write_text("logger.info('Using the %s backend', name)\n", encoding="utf-8")
    assert [t.kind for t in from_tree(tmp_path) if t.text == "Using the %s backend" and t.kind != "text"] == [INFO]


def test_where_the_version_is_told(tmp_path: Path) -> None:
    tree = small_vllm(tmp_path / "vllm-0.8.5", version="")
    assert version_of(tree) == "0.8.5"
    (tree / "vllm-0.8.4.dist-info").mkdir()
    (tree / "vllm-0.8.4.dist-info" / "METADATA").write_text("Name: vllm\nVersion: 0.8.4\n", encoding="utf-8")
    assert version_of(tree) == "0.8.4"
    (tree / "vllm" / "_version.py").write_text("version = '0.8.3'\n", encoding="utf-8")
    assert version_of(tree / "vllm") == "0.8.3"


def test_a_folder_without_vllm(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no vLLM"):
        from_tree(tmp_path)
