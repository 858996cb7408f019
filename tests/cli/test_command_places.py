"""Every place that a command has to be entered in; CONTRIBUTING.md lists them."""

import ast
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import causalcontext
from causalcontext import satellites
from causalcontext.cli.app import app

ROOT = Path(__file__).parents[2]
PACKAGE = Path(causalcontext.__file__).parent / "cli"
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands
OF_FILES = [
    path.stem
    for path in sorted(PACKAGE.glob("*.py"))
    if path.stem not in {"__init__", "app"}
    and hasattr(import_module(f"causalcontext.cli.{path.stem}"), path.stem)
]
"""Files with a function of their name, which is a command."""


def first_words():
    """The first constants of the calls, lists and tuples of all tests of the command line."""
    words = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if path == Path(__file__) or not ("cli.app" in text or "command" in path.stem):
            continue
        for node in ast.walk(ast.parse(text)):
            parts = getattr(node, "args" if isinstance(node, ast.Call) else "elts", None) or [None]
            if isinstance(parts, list) and isinstance(parts[0], ast.Constant):
                words.add(parts[0].value)
    return {word.split()[0] for word in words if isinstance(word, str) and word.strip()}


FIRST_WORDS = first_words()


@pytest.mark.parametrize("name", OF_FILES)
def test_a_command_of_a_file_is_entered(name):
    assert name in COMMANDS, "enter it in cli/app.py"


def test_a_command_is_a_file_or_a_satellite():
    assert set(COMMANDS) == {*OF_FILES, *satellites.COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_in_the_docs(name):
    assert f"| `causalcontext {name}" in PAGE, "add it to the table of docs/command-line.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_run_by_a_test(name):
    assert name in FIRST_WORDS, "run it in a file of tests/cli"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_and_its_options_have_help(name):
    command = COMMANDS[name]
    assert command.help, "its docstring is its help"
    options = [each for each in command.params if each.param_type_name == "option"]
    assert [option.name for option in options if not option.help and not option.hidden] == []


@pytest.mark.parametrize("name", OF_FILES)
def test_a_command_does_not_print_past_the_terminal(name):
    """A name in a table may steer a terminal, and a reader of a pipe may leave."""
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not called & {"print", "typer.echo"}, "print with the functions of cli/terminal.py"


def needed(name):
    """How many arguments a command cannot do without."""
    params = COMMANDS[name].params
    return sum(each.param_type_name == "argument" and each.required for each in params)


@pytest.mark.parametrize("name", [name for name in OF_FILES if name in COMMANDS and needed(name)])
def test_a_missing_file_is_refused_in_one_sentence(name, tmp_path):
    words = [str(tmp_path / "missing.csv")] * needed(name)
    answer = CliRunner().invoke(app, [name, *words])
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert answer.stderr.startswith("error: ")
    assert answer.stderr.count("\n") == 1


ARGUMENTS = {"data": "soil.csv", "file": "r.json", "x": "precipitation", "y": "runoff"}
"""A value of every argument that a command cannot do without, by its name."""
INPUTS = {"--knowledge"}
"""Options with a file that is read."""
MAKES_FOLDERS = {"demo"}
"""Commands that make a missing folder: the first that a reader types."""
SEARCHES = {"contexts", "demo", "stability"}
"""Commands that search for seconds."""
WRITING = [
    (name, option.opts[0])
    for name in OF_FILES
    if name in COMMANDS
    for option in COMMANDS[name].params
    if option.param_type_name == "option"
    and option.metavar == "FILE"
    and option.opts[0] not in INPUTS
]
"""Commands with the options that name a file to write."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table and a result of it."""
    path = tmp_path_factory.mktemp("files")
    table = causalcontext.examples.soil_moisture(200, seed=3)
    table.to_csv(path / "soil.csv", index=False)
    causalcontext.discover(table, "soil", method="pc-ac").save(path / "r.json")
    return path


def words_of(name):
    """The arguments that a command cannot do without."""
    params = COMMANDS[name].params
    return [
        ARGUMENTS[each.name]
        for each in params
        if each.param_type_name == "argument" and each.required
    ]


def test_the_commands_that_write_are_known():
    assert {("discover", "--json"), ("changes", "--json"), ("export", "--output")} <= set(WRITING)


@pytest.mark.parametrize(
    ("name", "option"), [entry for entry in WRITING if entry[0] not in MAKES_FOLDERS]
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    name, option, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    missing = f"missing/answer.{'html' if option == '--report' else 'json'}"
    answer = CliRunner().invoke(app, [name, *words_of(name), option, missing])
    assert answer.exit_code == 2
    assert answer.stdout == "", "call check_outputs before the work starts"
    assert answer.stderr.startswith("error: cannot write missing")


@pytest.mark.parametrize(("name", "option"), WRITING)
def test_an_input_is_never_written_over(name, option, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = words_of(name)
    if not words:
        return
    before = (folder / words[0]).read_bytes()
    answer = CliRunner().invoke(app, [name, *words, option, words[0]])
    assert answer.exit_code == 2
    assert answer.stderr.startswith("error: cannot ")
    assert (folder / words[0]).read_bytes() == before, "hand inputs= to check_outputs"


@pytest.mark.parametrize(
    ("name", "option"),
    [
        pytest.param(*entry, marks=[pytest.mark.slow] * (entry[0] in SEARCHES))
        for entry in WRITING
        if entry[1] in ("--json", "--report")
    ],
)
def test_a_dash_is_standard_output(name, option, folder, monkeypatch):
    monkeypatch.chdir(folder)
    answer = CliRunner().invoke(app, [name, *words_of(name), option, "-"])
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout.startswith(("{", "[") if option == "--json" else "<!DOCTYPE html>")
    assert not (folder / "-").exists(), "write with cli/pipes.py"
