"""Nothing that came from outside can become code: what could make it so is nowhere in the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "sumi"
MODULES = sorted(SOURCE.rglob("*.py"))
# Readers that run what they read, and interpreters of any kind.
FORBIDDEN_MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "code",
    "codeop",
    "runpy",
    "imp",
    "xmlrpc",
}
FORBIDDEN_CALLS = {"eval", "exec", "os.system", "os.popen", "yaml.load", "builtins.compile"}
# The command line and the package itself use these, with names from tables of their own.
IMPORTING_CALLS = {"__import__", "import_module", "importlib.import_module"}


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def within_functions(tree: ast.Module) -> Iterator[ast.Call]:
    """What is called with values that did not stand in the source."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from calls(node)


def faults(tree: ast.Module, name: str) -> Iterator[str]:
    yield from (f"imports {module}" for module in imported(tree) if module in FORBIDDEN_MODULES)
    for call in calls(tree):
        called = dotted(call.func)
        if called in FORBIDDEN_CALLS or (
            called in IMPORTING_CALLS and not name.startswith(("cli/", "__init__"))
        ):
            yield f"line {call.lineno} calls {called}"
        if any(word.arg == "shell" and not _is_false(word.value) for word in call.keywords):
            yield f"line {call.lineno} starts a shell"
    for call in within_functions(tree):
        if dotted(call.func).startswith("re.") and call.args and not _is_written_here(call.args[0]):
            yield f"line {call.lineno} makes a pattern of a value"


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _is_written_here(node: ast.expr) -> bool:
    """A literal, or a constant by its name."""
    return isinstance(node, ast.Constant) or dotted(node).lstrip("_").isupper()


def test_the_rules_find_what_they_are_for() -> None:
    guilty = (
        "import pickle",
        "from marshal import loads",
        "eval(x)",
        "subprocess.run(x, shell=True)",
        "importlib.import_module(x)",
        "def f(x):\n    return re.compile(x)",
        "def f(x):\n    return re.search(f'{x}', x)",
    )
    assert all(list(faults(ast.parse(source), "x.py")) for source in guilty)
    assert not list(faults(ast.parse("def f(x):\n    return re.sub(r'a', 'b', x)"), "x.py"))


def test_no_value_becomes_code() -> None:
    assert len(MODULES) > 100
    found = {}
    for path in MODULES:
        name = path.relative_to(SOURCE).as_posix()
        if wrong := list(faults(ast.parse(path.read_text(encoding="utf-8")), name)):
            found[name] = wrong
    assert found == {}
