"""A parsed Python module in, the templates of what it raises and logs out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vllmdoctor.upstream.templates import ERROR, INFO, RAISE, TEXT, WARNING, Template, folded

_LOGGED = {
    "error": ERROR, "exception": ERROR, "critical": ERROR, "fatal": ERROR, "error_once": ERROR,
    "warning": WARNING, "warn": WARNING, "warning_once": WARNING, "print_warning_once": WARNING,
    "info": INFO, "info_once": INFO, "debug": INFO, "debug_once": INFO, "log": INFO,
}  # fmt: skip
_MESSAGE_KEYWORDS = ("message", "detail", "msg", "reason")
_RESPONSES = ("ErrorResponse", "create_error_response")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAST_WORDS = 3
_MOST_VARIANTS = 8


def module_templates(module: ast.Module, file: str, version: str) -> list[Template]:
    """Messages of raises, asserts, loggers and error answers; then other texts of several words, of the kind text."""
    reader = _Reader(file, version)
    reader.block(module, (), {})
    return list(dict.fromkeys(reader.found))


class _Reader:
    def __init__(self, file: str, version: str) -> None:
        self.file = file
        self.version = version
        self.found: list[Template] = []

    def block(self, node: ast.AST, names: tuple[str, ...], variables: dict[str, list[str]]) -> None:
        """Everything below a node. `variables` holds the texts that were assigned to names of the function so far."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                inner = dict(variables) if isinstance(node, _FUNCTIONS) else {}
                self.block(child, (*names, child.name), inner)
                continue
            self.statement(child, names, variables)
            self.block(child, names, variables)

    def statement(self, node: ast.AST, names: tuple[str, ...], variables: dict[str, list[str]]) -> None:
        function = ".".join(names)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            _remember(node, variables)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            self.add(RAISE, _dotted(node.exc.func), function, _message(node.exc, variables), variables)
        elif isinstance(node, ast.Assert) and node.msg is not None:
            self.add(RAISE, "AssertionError", function, node.msg, variables)
        elif isinstance(node, ast.Call):
            self.call(node, names, variables)
        elif isinstance(node, (ast.Constant, ast.JoinedStr)):
            self.add(TEXT, "", function, node, variables)

    def call(self, node: ast.Call, names: tuple[str, ...], variables: dict[str, list[str]]) -> None:
        name, function = _dotted(node.func), ".".join(names)
        owner, _, method = name.rpartition(".")
        message = _message(node, variables)
        if method in _RESPONSES:
            self.add(RAISE, "ErrorResponse", function, message, variables)
        elif name == "super.__init__" and len(names) > 1 and names[-2].endswith(("Error", "Exception")):
            self.add(RAISE, names[-2], function, message, variables)
        elif name == "warnings.warn":
            self.add(WARNING, "warnings", function, message, variables)
        elif method in _LOGGED and ("log" in owner.lower() or method == "print_warning_once"):
            plain = method in ("error", "warning", "info", "debug")
            self.add(_LOGGED[method], "" if plain else method, function, message, variables)

    def add(
        self, kind: str, exception: str, function: str, node: ast.expr | None, variables: dict[str, list[str]]
    ) -> None:
        for text in texts_of(node, variables) if node is not None else []:
            shown = folded(text)
            if shown and (kind != TEXT or len(shown.split()) >= _LEAST_WORDS):
                self.found.append(Template(kind, exception, self.file, function, shown, self.version, self.version))


def _remember(node: ast.Assign | ast.AugAssign | ast.AnnAssign, variables: dict[str, list[str]]) -> None:
    """Messages are often put together before they are raised: `msg = …`, then `msg += …`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if not isinstance(target, ast.Name) or node.value is None:
            continue
        texts = texts_of(node.value, variables)
        if isinstance(node, ast.AugAssign) and target.id in variables:
            texts = [before + text for before in variables[target.id] for text in ("", *texts)]
        if texts:
            variables[target.id] = list(dict.fromkeys([*texts, *variables.get(target.id, [])]))[:_MOST_VARIANTS]


def _message(call: ast.Call, variables: dict[str, list[str]]) -> ast.expr | None:
    """The argument that holds the message: one named so, else the first that is a text."""
    keywords = [k.value for name in _MESSAGE_KEYWORDS for k in call.keywords if k.arg == name]
    return next((node for node in (*keywords, *call.args) if texts_of(node, variables)), None)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return f"{owner}.{node.attr}" if owner else node.attr
    return node.id if isinstance(node, ast.Name) else _dotted(node.func) if isinstance(node, ast.Call) else ""


def texts_of(node: ast.expr, variables: dict[str, list[str]]) -> list[str]:
    """Templates that an expression may give; none when it holds no text at all (`str(e)`)."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return ["".join(_joined(node))]
    if isinstance(node, ast.Name):
        return variables.get(node.id, [])
    if isinstance(node, ast.IfExp):
        return [*texts_of(node.body, variables), *texts_of(node.orelse, variables)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _added(node, variables)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return texts_of(node.left, variables)
    return _called(node, variables) if isinstance(node, ast.Call) else []


def _joined(node: ast.JoinedStr) -> Iterator[str]:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            conversion = f"!{chr(part.conversion)}" if part.conversion > 0 else ""
            form = ":" + "".join(_joined(part.format_spec)) if isinstance(part.format_spec, ast.JoinedStr) else ""
            yield f"{{{ast.unparse(part.value)}{conversion}{form}}}"
        elif isinstance(part, ast.Constant):
            yield str(part.value)


def _added(node: ast.BinOp, variables: dict[str, list[str]]) -> list[str]:
    left, right = texts_of(node.left, variables), texts_of(node.right, variables)
    if not left and not right:
        return []
    before, after = left or [f"{{{ast.unparse(node.left)}}}"], right or [f"{{{ast.unparse(node.right)}}}"]
    return [a + b for a in before for b in after][:_MOST_VARIANTS]


def _called(node: ast.Call, variables: dict[str, list[str]]) -> list[str]:
    """The text of `"…".format(…)`, `dedent("…")`, `" ".join(["…", "…"])`."""
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "join" and node.args:
        parts = node.args[0].elts if isinstance(node.args[0], (ast.List, ast.Tuple)) else []
        joint = " ".join(next(iter(texts_of(p, variables)), f"{{{ast.unparse(p)}}}") for p in parts)
        return [joint] if joint else []
    if isinstance(function, ast.Attribute) and function.attr in ("format", "strip", "lstrip", "rstrip"):
        return texts_of(function.value, variables)
    is_dedent = _dotted(function).rpartition(".")[2] in ("dedent", "cleandoc")
    return texts_of(node.args[0], variables) if is_dedent and node.args else []
