"""`compare`: the table, JSON, the picture, exit codes, and what docs/methods.md says it prints."""

from importlib.util import find_spec
import json
import re
import struct
import subprocess
import sys

from ik_node.cli.main import main
from ik_node.solver.options import METHODS
import pytest
from support.command_line import refusal

ARM_GOAL = ['--goal', 'hand:0.726,0.386,0.631', '--start', 'j2=0.5', 'j3=0.9', 'j5=0.6']


@pytest.fixture
def arm(repository):
    return [str(repository / 'docs' / 'robots' / 'arm6.urdf'), *ARM_GOAL]


@pytest.fixture
def fourbar(repository):
    """Return the words for the four-bar, its pen and a place on the pen's curve."""
    return [
        str(repository / 'docs' / 'robots' / 'fourbar.urdf'),
        *('--goal', 'pen:0.487847661,0.897140404,0', '--start', 'drive=0.8'),
    ]


def table_of(text):
    """Return the rows of a printed table by their first word, cells by their column."""
    lines = [line.strip() for line in text.splitlines()]
    columns = re.split(r'\s{2,}', lines[0])
    rows = [re.split(r'\s{2,}', line) for line in lines[1:] if '  ' in line]
    return {row[0]: dict(zip(columns, row, strict=False)) for row in rows}


def test_every_method_has_a_row(arm, capsys):
    """Status, iterations, time and errors of all seven, which reach the position."""
    assert main(['compare', *arm]) == 0
    rows = table_of(capsys.readouterr().out)
    assert list(rows) == list(METHODS)
    for row in rows.values():
        assert row['status'] == 'CONVERGED'
        assert int(row['iterations']) > 0
        assert re.fullmatch(r'[0-9.]+ ms', row['time'])
        assert float(row['position error'].removesuffix(' m')) <= 1e-6
        assert row['orientation error'] == '0.0e+00 rad'
        assert 'loops open' not in row
    assert int(rows['dls']['iterations']) < int(rows['jacobian_transpose']['iterations'])


def test_unsuitable_method_is_listed_with_reason(fourbar, capsys):
    """On a closed chain ccd is out, by name; the others say how far loops are open."""
    assert main(['compare', *fourbar]) == 0
    text = capsys.readouterr().out
    rows = table_of(text)
    assert rows['ccd'] == {'method': 'ccd', 'status': 'cannot serve'}
    assert re.search(r"^ccd: method: 'ccd' cannot be used.*'tie' would not stay", text, re.M)
    for method in ('dls', 'sdls', 'pseudo_inverse', 'slsqp'):
        assert rows[method]['status'] == 'CONVERGED'
        assert float(rows[method]['loops open'].split(' m')[0]) <= 1e-6


def test_json_has_every_method(fourbar, capsys):
    assert main(['compare', *fourbar, '--json', '--max-iterations', '4']) == 0
    found = {one['method']: one for one in json.loads(capsys.readouterr().out)}
    assert list(found) == list(METHODS)
    assert found['ccd']['status'] is None
    assert 'would not stay closed' in found['ccd']['reason']
    assert found['dls']['status'] == 'CONVERGED'
    assert set(found['dls']['q']) == {'drive', 'middle', 'rock'}
    assert found['dls']['q']['drive'] == pytest.approx(1.2, abs=1e-6)
    assert found['dls']['goal_errors']['pen']['position'] < 1e-6
    assert found['jacobian_transpose']['status'] == 'TIMEOUT'
    assert found['jacobian_transpose']['iterations'] == 4
    assert found['jacobian_transpose']['closure_errors']['tie']['position'] > 1e-6
    assert found['dls']['solve_time'] > 0.0


def test_exit_code_is_1_if_no_method_converges(arm, capsys):
    words = [word.replace('0.726', '7.26') for word in arm]
    assert main(['compare', *words, '--max-iterations', '20']) == 1
    rows = table_of(capsys.readouterr().out)
    assert 'CONVERGED' not in {row['status'] for row in rows.values()}
    assert main(['compare', *arm[:1], '--goal', 'hand:9,9,9', '--method', 'sdls']) == 1


@pytest.mark.parametrize(
    ('words', 'reason'),
    [(['--method', 'guess'], 'dls or sdls'), (['--max-iterations', '0'], 'max_iterations')],
)
def test_unusable_input_ends_with_2(arm, capsys, words, reason):
    assert main(['compare', *arm, *words]) == 2
    assert reason in refusal(capsys)


def test_picture_is_written(arm, tmp_path, capsys):
    """A PNG of two panels' width is written; without matplotlib the command says so."""
    path = tmp_path / 'residuals.png'
    code = main(['compare', *arm, '--plot', str(path)])
    if find_spec('matplotlib') is None:
        assert code == 2
        return
    assert code == 0
    data = path.read_bytes()
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    width, height = struct.unpack('>II', data[16:24])
    assert width > 1.5 * height > 500
    assert table_of(capsys.readouterr().out)['dls']['status'] == 'CONVERGED'


def test_tables_of_methods_page_equal_printed_tables(repository, capsys, monkeypatch):
    """The tables of docs/methods.md are those that its commands print, but for the times."""
    monkeypatch.chdir(repository)
    text = (repository / 'docs' / 'methods.md').read_text()
    blocks = re.findall(r'`ik_node (compare [^`]*)`,.*\n\n```text\n((?:.*\n)*?)```', text)
    assert len(blocks) == 3
    for command, printed in blocks:
        words = command.split()
        if '--plot' in words:  # the picture in docs/pictures stays as it is
            at = words.index('--plot')
            del words[at : at + 2]
        assert main(words) == 0
        now, then = table_of(capsys.readouterr().out), table_of(printed)
        assert list(now) == list(then)
        for method, row in then.items():
            assert now[method]['status'] == row['status'], (command, method)
            if 'iterations' in row:
                counted, said = int(now[method]['iterations']), int(row['iterations'])
                assert counted == pytest.approx(said, rel=0.1, abs=2), (command, method)


def test_the_page_runs(repository):
    text = (repository / 'docs' / 'methods.md').read_text()
    (code,) = re.findall(r'^```python\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)
    run = [sys.executable, '-c', code]
    done = subprocess.run(run, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
