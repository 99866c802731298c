"""The dispatcher: what is printed where, and the exit codes."""

from importlib.machinery import ModuleSpec
import os
from pathlib import Path
import re
import shutil
import signal
import subprocess
import sys
from types import ModuleType

from ik_node.cli import main as cli
from ik_node.cli.main import COMMANDS, main
import pytest
from support.command_line import refusal
from support.waiting import PATIENCE


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as ended:
        main(['--help'])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for name, about in COMMANDS.items():
        assert name in text
        assert about in text


def test_help_of_a_command_lists_its_options(capsys):
    for name in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main([name, '--help'])
        assert ended.value.code == 0
        text = capsys.readouterr().out
        assert f'ik_node {name}' in text
        # The table of parameters is part of the node's help, solver options included.
        assert name != 'node' or 'solver.max_iterations: int' in text


COUNT = '''
"""Count the links and joints of a robot."""

from ik_node.cli.arguments import add_options, add_robot_arguments, robot_of


def add_arguments(parser):
    add_robot_arguments(parser)
    add_options(parser, '--least N  fewer links are an error; [default: 0]')


def run(args):
    robot = robot_of(args)
    print(f'{robot.name}: {len(robot.links)} links, {len(robot.joints)} joints')
    return 0 if len(robot.links) >= args.least else 1
'''


def test_command_is_one_module_and_one_row(capsys, monkeypatch):
    """As docs/architecture.md says: help, exit codes and errors are those of all commands."""
    module = ModuleType('ik_node.cli.count')
    exec(COUNT, module.__dict__)
    monkeypatch.setitem(sys.modules, 'ik_node.cli.count', module)
    monkeypatch.setitem(COMMANDS, 'count', 'count the links and joints of a robot')
    assert main(['count', 'hexapod']) == 0
    assert capsys.readouterr().out == 'hexapod: 25 links, 24 joints\n'
    assert main(['count', 'hexapod', '--least', '100']) == 1
    capsys.readouterr()
    assert main(['count', 'no_robot']) == 2
    assert 'no_robot' in refusal(capsys)
    with pytest.raises(SystemExit):
        main(['count', '--help'])
    assert 'Count the links' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('program', 'words', 'started'),
    [
        ('/opt/ws/lib/ik_node/ik_node', [], ('node', [])),
        ('/opt/ws/lib/ik_node/ik_node', ['check', 'r.urdf'], ('check', ['r.urdf'])),
        ('/opt/ws/lib/ik_node/ik_node', ['--ros-args'], ('node', ['--ros-args'])),
        ('/usr/bin/ik_node', ['--ros-args', '-p', 'a:=b'], ('node', ['--ros-args', '-p', 'a:=b'])),
        ('/usr/bin/ik_node', [], None),
        ('/opt/ws/lib/ik_node/ik', [], None),
        ('/home/me/lib/ik_node/__main__.py', [], None),
    ],
)
def test_executable_of_ros_package_is_the_node_unless_a_command_follows(
    program, words, started, monkeypatch
):
    found = []
    monkeypatch.setattr(sys, 'argv', [program, *words])
    monkeypatch.setattr(cli, '_run', lambda name, words: found.append((name, words)))
    main()
    assert found == ([] if started is None else [started])


@pytest.mark.parametrize('words', [['fly'], ['check'], ['demo', '--seconds', 'x']])
def test_unusable_words_end_with_2(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err


def test_unknown_demo_is_refused(capsys):
    assert main(['demo', 'dragon']) == 2
    said = refusal(capsys)
    assert "'dragon'" in said
    assert 'hexapod' in said


def test_bench_needs_a_checkout(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr('ik_node.cli.bench.__file__', str(tmp_path / 'a' / 'b' / 'bench.py'))
    assert main(['bench']) == 2
    assert 'checkout' in capsys.readouterr().err


def test_closed_output_pipe_is_no_error():
    """`ik_node check ... | head -1` says no more than that line; 141 as of other programs."""
    words = [sys.executable, '-m', 'ik_node', 'check', 'urdf/chain100.urdf', '--json']
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read().decode()
        assert (process.wait(PATIENCE), said) == (141, '')


@pytest.mark.skipif(not Path('/dev/full').exists(), reason='the device is one of Linux')
@pytest.mark.parametrize('unbuffered', ['', '1'])
@pytest.mark.parametrize('command', ['check', 'solve'])
def test_full_standard_output_is_told_once(command, unbuffered, monkeypatch):
    monkeypatch.setenv('PYTHONUNBUFFERED', unbuffered)
    words = [sys.executable, '-m', 'ik_node', command, 'urdf/delta.urdf']
    with open('/dev/full', 'w') as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    said = f'ik_node {command}: No space left on device\n'
    assert done.returncode == 2
    # A line before it may report that the kernels are compiled.
    assert done.stderr.endswith(said)
    assert done.stderr.count('No space') == 1
    assert 'Exception' not in done.stderr


def test_closed_standard_output_leaves_no_traceback():
    for words in [['check'], ['check', '--json'], ['solve'], ['--version'], []]:
        robot = ['urdf/delta.urdf'] if words and words[0] in COMMANDS else []
        line = ['sh', '-c', '"$0" "$@" >&-', sys.executable, '-m', 'ik_node', *words, *robot]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0
        assert 'Traceback' not in done.stderr
        assert 'NoneType' not in done.stderr


def test_closed_error_output_does_not_disturb_standard_output():
    line = ['sh', '-c', '"$0" -m ik_node check no_such_file.urdf 2>&-', sys.executable]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, '', '')


@pytest.mark.parametrize(
    ('command', 'words', 'read'),
    [
        ('convert', ['--force', '-o'], 'robot.png'),
        ('export', ['-o'], 'robot.png'),
        ('export', ['--closures', 'closures.yaml', '-o'], 'closures.yaml'),
        ('batch', ['--goals', 'goals.csv', '--overwrite', '-o'], 'goals.csv'),
        (
            'batch',
            ['--goals', 'goals.csv', '--closures', 'closures.yaml', '--overwrite', '-o'],
            'closures.yaml',
        ),
        ('reach', ['--link', 'platform_link', '-o'], 'robot.png'),
        ('reach', ['--targets', 'goals.csv', '-o'], 'goals.csv'),
        ('motion', ['--motion', 'goals.csv', '--overwrite', '--preview'], 'robot.png'),
        ('motion', ['--motion', 'goals.csv', '--overwrite', '-o'], 'goals.csv'),
        ('solve', ['--plot'], 'robot.png'),
        ('compare', ['--plot'], 'robot.png'),
        ('transmission', ['--plot'], 'robot.png'),
    ],
)
def test_output_that_is_an_input_is_refused(
    repository, tmp_path, monkeypatch, capsys, command, words, read
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(repository / 'urdf' / 'delta.urdf', 'robot.png')
    Path('closures.yaml').write_text('closures: []\n')
    Path('goals.csv').write_text(
        'time,platform_link.x,platform_link.y,platform_link.z\n0,0,0,0.1\n1,0,0,0.1\n'
    )
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    Path(f'soft_{read}').symlink_to(read)
    os.link(read, f'hard_{read}')
    for output in (read, f'soft_{read}', f'hard_{read}'):
        assert main([command, 'robot.png', *words, output]) == 2
        assert f'{output!r} cannot be used; use another file than the input' in refusal(capsys)
    assert {path: path.read_bytes() for path in before} == before


def test_one_file_for_two_outputs_is_refused(repository, tmp_path, capsys):
    """The picture would replace the table."""
    words = ['reach', str(repository / 'urdf' / 'delta.urdf'), '--link', 'platform_link']
    out = str(tmp_path / 'a.png')
    assert main([*words, '-o', out, '--plot', out]) == 2
    assert 'another file than -o' in refusal(capsys)


# Runs a command with an import that takes for ever, or as if packages were not installed.
SLOW = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == 'numpy':
            print('importing', flush=True)
            time.sleep(1000)
sys.meta_path.insert(0, Slow())
from ik_node.cli.main import main
sys.exit(main([sys.argv[1]]))
"""
BARE = """
import sys
for name in sys.argv[1].split():
    sys.modules[name] = None
from ik_node.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


def test_ctrl_c_during_imports_leaves_no_traceback():
    for name in ('solve', 'view'):
        words = [sys.executable, '-c', SLOW, name]
        streams = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'text': True}
        with subprocess.Popen(words, **streams) as process:
            assert process.stdout.readline() == 'importing\n'
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=PATIENCE) == ('', '')
        assert process.returncode == 130


def test_python_without_the_required_packages_is_told_in_one_line():
    for name in ('check', 'node', 'demo'):
        words = [sys.executable, '-c', BARE, ' '.join(cli.REQUIRED), name, 'robot.urdf', '-o', 'x']
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, '')
        assert done.stderr.count('\n') == 1
        assert f'{sys.executable} has no numpy scipy pyyaml tqdm: `' in done.stderr
        assert '-m pip install numpy scipy pyyaml tqdm`' in done.stderr
        assert '.venv/bin/ik_node' in done.stderr


def test_version_and_help_need_no_package():
    absent = ' '.join([*cli.REQUIRED, 'rclpy', 'numba'])
    for said, *words in (('ik_node 0.', '--version'), ('usage: ', '--help'), ('usage: ',)):
        line = [sys.executable, '-c', BARE, absent, *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout[: len(said)]) == (0, said)


def test_every_required_package_is_installed_by_pip(repository):
    (names,) = re.findall(r'install_requires=\[(.*?)\]', (repository / 'setup.py').read_text())
    assert sorted(cli.REQUIRED.values()) == sorted(re.findall(r"'(\S+)'", names))


def test_completion_knows_the_options_of_the_typed_command(monkeypatch):
    parsers = []
    module = ModuleType('argcomplete')
    module.__spec__ = ModuleSpec('argcomplete', None)
    module.autocomplete = parsers.append
    monkeypatch.setitem(sys.modules, 'argcomplete', module)
    monkeypatch.setenv('_ARGCOMPLETE', '1')
    monkeypatch.setenv('COMP_LINE', 'ik_node solve --me')
    assert main([]) == 0
    (parser,) = parsers
    assert parser.parse_args(['solve', 'robot.urdf', '--method', 'ccd']).method == 'ccd'
    monkeypatch.setitem(sys.modules, 'argcomplete', None)
    assert main([]) == 1
