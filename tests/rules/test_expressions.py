"""The language of conditions: three-valued logic, precedence, versions, functions, and errors with columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.helpers import lookup_of
from vllmdoctor.errors import ExpressionError
from vllmdoctor.rules.expressions import UNKNOWN, parse_expression

FACTS = {
    "gpus": 2,
    "total_gib": 24.0,
    "dtype": "bfloat16",
    "eager": False,
    "vllm_version": "0.9.2.dev3+g12ab",
    "zero": 0,
}


def value(source: str) -> object:
    return parse_expression(source).evaluate(lookup_of(FACTS))


T, F, U = "true", "false", "nothing_known"
RESULTS = {T: True, F: False, U: None}


@pytest.mark.parametrize(
    "left, right, both, either",
    [
        (T, T, T, T), (T, F, F, T), (T, U, U, T),
        (F, T, F, T), (F, F, F, F), (F, U, F, U),
        (U, T, U, T), (U, F, F, U), (U, U, U, U),
    ],
)  # fmt: skip
def test_and_or_follow_kleene(left: str, right: str, both: str, either: str) -> None:
    lookup = lookup_of({})
    assert parse_expression(f"{left} and {right}").holds(lookup) is RESULTS[both]
    assert parse_expression(f"{left} or {right}").holds(lookup) is RESULTS[either]


@pytest.mark.parametrize("operand, negated", [(T, F), (F, T), (U, U)])
def test_not_follows_kleene(operand: str, negated: str) -> None:
    assert parse_expression(f"not {operand}").holds(lookup_of({})) is RESULTS[negated]


@pytest.mark.parametrize(
    "source, expected",
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("7 // 2 + 7 % 2", 4),
        ("-2 * 3", -6),
        ("1 + 1 == 2 and 3 < 4", True),
        ("true or false and false", True),  # and binds tighter
        ("(true or false) and false", False),
        ("not true or true", True),  # not binds tighter than or
        ("not 1 > 2", True),  # … and looser than a comparison
        ("gpus * total_gib >= 48", True),
        ("dtype == 'bfloat16'", True),
        ("dtype in ['float16', 'bfloat16']", True),
        ("gpus in []", False),
        ("eager == false", True),
    ],
)
def test_precedence_and_values(source: str, expected: object) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    "source, expected",
    [
        ("vllm_version >= v0.9.2", True),  # builds of a release count as the release
        ("vllm_version < v0.10", True),  # 10 is more than 9, unlike in texts
        ("vllm_version == v0.9.2", True),
        ("vllm_version in [v0.9.1, v0.9.2]", True),
    ],
)
def test_versions_are_compared_as_releases(source: str, expected: bool) -> None:
    assert value(source) is expected


@pytest.mark.parametrize(
    "source",
    [
        "missing", "missing + 1", "-missing", "missing in [1]", "1 in [2, missing]", "1 / zero", "1 // zero", "1 % zero",
        "dtype + 1", "dtype < 3", "-dtype", "min(1, missing)", "max(1, dtype)", "floor_to(1.5, 99)",
        "first(missing, other)",
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_unknown(source: str) -> None:
    assert value(source) is UNKNOWN


def test_unknown_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(UNKNOWN)


@pytest.mark.parametrize(
    "source, expected",
    [
        ("floor(20481.5, 16)", 20480), ("floor(3.9)", 3), ("ceil(17, 16)", 32), ("ceil(3.1)", 4),
        ("floor_to(0.879, 2)", 0.87), ("ceil_to(0.871, 2)", 0.88), ("ceil_to(0.87, 2)", 0.87),
        ("min(3, 1, 2)", 1), ("max(3, 1, 2)", 3), ("abs(-4)", 4),
        ("first(missing, zero, 5)", 0), ("known(gpus)", True), ("known(gpus, missing)", False),
        ("not known(missing) or missing > 3", True),
    ],
)  # fmt: skip
def test_functions(source: str, expected: object) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    "source, column",
    [
        ("", 1),
        ("1 +", 4),
        ("1 $ 2", 3),
        ("(1 + 2", 7),
        ("1 2", 3),
        ("a == ", 6),
        ("a in 3", 6),
        ("a in [1 2]", 9),
        ("1 < 2 < 3", 7),
        ("and a", 1),
        ("sqrt(4)", 1),
        ("min(1)", 6),
        ("floor_to(a)", 11),
        ("known()", 7),
        ("'open", 1),
        ('"double"', 1),
        ("a.b", 2),
        ("a = 1", 3),
    ],
)
def test_errors_name_the_column(source: str, column: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(source)
    assert caught.value.column == column


@pytest.mark.parametrize(
    "bomb",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "not " * 5000 + "true",
        "-" * 5000 + "1",
        "min(1, " * 5000 + "1" + ")" * 5000,
        "1" + " + 1" * 5000,
        "true" + " and true" * 5000,
        "a in [" + "1, " * 5000 + "1]",
    ],
)
def test_deep_and_long_expressions_are_refused(bomb: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(bomb)


def test_the_longest_accepted_chain_evaluates() -> None:
    assert value("1" + " + 1" * 199) == 200


@pytest.mark.parametrize(
    "source", ["__import__('os')", "open('x')", "().__class__", "lambda: 1", "gpus.real", "[1][0]"]
)
def test_nothing_of_python_gets_through(source: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(source)


@given(st.text(alphabet="ab01 .'()[]<>=!+-*/%,v$_", max_size=40))
def test_any_text_parses_or_raises_expression_error(source: str) -> None:
    try:
        expression = parse_expression(source)
    except ExpressionError as problem:
        column = problem.column
    else:
        column = 1
        expression.evaluate(lookup_of(FACTS))
    assert 1 <= column <= len(source) + 1


@given(st.integers(0, 10**6), st.integers(1, 512))
def test_floor_is_the_largest_multiple_below(number: int, step: int) -> None:
    result = parse_expression("floor(a, b)").evaluate(lookup_of({"a": number, "b": step}))
    assert isinstance(result, int)
    assert result % step == 0
    assert result <= number < result + step


def test_facts_are_named() -> None:
    names = parse_expression("known(a) and b + min(c, 1) in [d, 'e'] or true").facts()
    assert names == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("/models/x", True), ("./x", True), ("~/x", True), ("C:\\models\\x", True), ("a/b/c", True), ("acme/x", False), ("gpt2", False)],
)  # fmt: skip
def test_is_path_tells_a_folder_from_a_repository(text: str, expected: bool) -> None:
    assert parse_expression("is_path(model)").holds({"model": text}.__getitem__) is expected
