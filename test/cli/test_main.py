"""The dispatcher: what is printed where, and the exit codes."""

import subprocess
import sys

from ik_node.cli import main as cli
from ik_node.cli.main import COMMANDS, main
import pytest
from support.command_line import refusal
from support.waiting import PATIENCE


def test_help_lists_the_commands(capsys):
    """Every command is named with what it does."""
    with pytest.raises(SystemExit) as ended:
        main(['--help'])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for name, about in COMMANDS.items():
        assert name in text
        assert about in text


@pytest.mark.parametrize('name', COMMANDS)
def test_help_of_a_command_lists_its_options(name, capsys):
    """Each command has a help of its own."""
    with pytest.raises(SystemExit) as ended:
        main([name, '--help'])
    assert ended.value.code == 0
    assert f'ik_node {name}' in capsys.readouterr().out


def test_help_of_the_node_has_its_parameters(capsys):
    """The table of parameters is part of it, solver options included."""
    with pytest.raises(SystemExit):
        main(['node', '--help'])
    text = capsys.readouterr().out
    assert 'state_source: solution or measured' in text
    assert 'solver.max_iterations: int' in text


def test_version_is_printed(capsys):
    """The version is that of the package."""
    with pytest.raises(SystemExit) as ended:
        main(['--version'])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith('ik_node 0.')


@pytest.mark.parametrize('words', [[], ['fly'], ['check'], ['demo', '--seconds', 'x']])
def test_unusable_words_end_with_2(words, capsys):
    """A wrong command line is unusable input."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err


def test_unknown_demo_is_refused(capsys):
    """The robots there are are named; one line on stderr."""
    assert main(['demo', 'dragon']) == 2
    said = refusal(capsys)
    assert "'dragon'" in said
    assert 'hexapod' in said


def test_bench_needs_a_checkout(capsys, monkeypatch, tmp_path):
    """An installed package has no benchmark."""
    monkeypatch.setattr('ik_node.cli.bench.__file__', str(tmp_path / 'a' / 'b' / 'bench.py'))
    assert main(['bench']) == 2
    assert 'checkout' in capsys.readouterr().err


def test_help_loads_nothing_heavy():
    """The top-level help imports neither numpy nor rclpy."""
    code = (
        'import sys; from ik_node.cli.main import main\n'
        'try: main(["--help"])\n'
        'except SystemExit: pass\n'
        'print(sorted({"numpy", "rclpy", "numba", "scipy"} & set(sys.modules)))'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == '[]'


def test_commands_are_files_of_their_own(repository):
    """One file a command, and each has the two functions."""
    for name in cli.COMMANDS:
        text = (repository / 'ik_node' / 'cli' / f'{name}.py').read_text()
        assert 'def add_arguments(parser' in text
        assert 'def run(args' in text


def test_closed_output_pipe_is_no_error():
    """`ik_node check ... | head -1` says no more than that line; 141 as of other programs."""
    words = [sys.executable, '-m', 'ik_node', 'check', 'urdf/chain100.urdf', '--json']
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read().decode()
        assert (process.wait(PATIENCE), said) == (141, '')
