"""The examples in docstrings do what they say."""

import ast
import doctest
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import formrl
import formrl._native


def documented(owner: ModuleType | type) -> list[tuple[str, str]]:
    """Everything native with an example in its docstring."""
    found = []
    for name, value in vars(owner).items():
        text = getattr(value, "__doc__", None) or ""
        if ">>>" in text and not name.startswith("__"):
            found.append((f"{owner.__name__}.{name}", text))
        if isinstance(value, type) and value.__module__ == "formrl":
            found += documented(value)
    return found


NATIVE = documented(formrl._native)


@pytest.mark.parametrize(("name", "text"), NATIVE, ids=[name for name, _ in NATIVE])
def test_examples_of_native_docstrings(name: str, text: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def modules() -> list[str]:
    # Parts that stand on other packages are looked at where those are installed.
    return [m.name for m in pkgutil.walk_packages(formrl.__path__, "formrl.") if "__main__" not in m.name]


@pytest.mark.parametrize("name", ["formrl", *modules()])
def test_examples_of_modules(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} needs another package: {error}")
    assert module.__doc__ or name == "formrl._native", "every file says what it is"
    assert doctest.testmod(module).failed == 0


def test_what_is_public_is_documented() -> None:
    for name in formrl.__all__:
        value = getattr(formrl, name)
        assert isinstance(value, str) or value.__doc__, name
        if isinstance(value, type) and value in vars(formrl._native).values():
            for attribute, member in vars(value).items():
                if not attribute.startswith("_"):
                    assert member.__doc__, f"{name}.{attribute}"


def test_the_stubs_say_what_everything_does() -> None:
    """Editors show what stands there: the native module has no source to read."""
    stub = ast.parse((Path(formrl.__file__).parent / "_native.pyi").read_text())
    silent = []
    for top in stub.body:
        if not isinstance(top, ast.ClassDef | ast.FunctionDef):
            continue
        members = top.body if isinstance(top, ast.ClassDef) else []
        for node in [top, *(member for member in members if isinstance(member, ast.FunctionDef))]:
            overloaded = any(ast.unparse(mark) == "overload" for mark in node.decorator_list)
            if not node.name.startswith("_") and not overloaded and not ast.get_docstring(node):
                silent.append(f"{top.name}.{node.name}")
    assert silent == []
