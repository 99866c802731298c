"""`reach`: its words, exit codes, progress, and what is left when it is stopped."""

import os
import re
import shutil
import signal
import subprocess
import sys

from ik_node.cli.main import main
from ik_node.solver.solver import Solver
import numpy as np
import pytest
from support.command_line import refusal


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        ([], '--link is missing; links: base, upper, fore, tip'),
        (['--link', 'tipp'], "no link 'tipp'; did you mean 'tip'?"),
        (['--link', 'nose'], "no link 'nose'; known: base, upper, fore, tip"),
        (['--link', 'base'], 'moves in a plane; this one does not move'),
        (['--dof', 'X Y EZ'], 'along X Y EZ; this one moves on a curve'),
        (['--link', 'fore'], 'this one moves on a curve'),
        (['--plane', 'xz'], "'xz' cannot be used; use xy"),
        (['--plane', 'ab'], "'ab' cannot be used; use xy"),
        (['--at', '0.3'], '0.1: tip moves in that plane only'),
        (['--at', 'nan'], 'a finite number'),
        (['--extent', '1', '0', '0', '1'], 'MIN below MAX'),
        (['--extent', '0', '1', '0', 'inf'], 'MIN below MAX'),
        (['--grid', '1'], 'a whole number from 2'),
        (['--dof', 'X EZ'], 'axes that include X and Y'),
        (['--dof', 'Q'], 'some of X Y Z'),
        (['--plot', 'a.guess'], 'a file that ends in .'),
        (['-o', 'nowhere/a.csv'], 'a file that can be written'),
    ],
)
def test_unusable_input_ends_with_2(arm, tmp_path, capsys, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    link = ['--link', 'tip'] if words and '--link' not in words else []
    assert main(['reach', str(arm), *link, *words]) == 2
    assert reason in refusal(capsys)
    assert [path.name for path in tmp_path.iterdir()] == ['arm.urdf']


def test_grid_without_reached_point_exits_with_1(arm, run, tmp_path):
    picture = tmp_path / 'a.png'
    words = ('--extent', 2, 3, 2, 3, '--grid', 5, '--plot', picture)
    code, out, _, rows = run(arm, '--link', 'tip', *words)
    assert code == 1
    assert out.startswith('0 of 25 points reached, 0 m^2, plane z = 0.1 m')
    assert {row['status'] for row in rows} == {'STALLED'}
    corner = [row for row in rows if (row['x'], row['y']) == ('2.0', '2.0')]
    assert float(corner[0]['position_error']) == pytest.approx(np.hypot(2, 2) - 0.8, abs=1e-5)
    assert picture.stat().st_size > 0


def test_loops_that_stay_open(fivebar, tmp_path, run):
    path = tmp_path / 'torn.urdf'
    text = fivebar.read_text()
    torn = text.replace(
        'link2 link="right_fore_link" xyz="0.24', 'link2 link="right_fore_link" xyz="0.9'
    )
    assert torn != text
    path.write_text(torn)
    code, out, err, rows = run(path, '--link', 'tool_link')
    assert (code, out, rows) == (1, '', [])
    assert 'the loops are open at the start' in err


def test_ctrl_c_writes_the_results_so_far(arm, run, tmp_path, monkeypatch):
    solve, calls = Solver.solve_batch, []

    def interrupted(self, *args, **chosen):
        if chosen.get('threads') == 2:
            calls.append(1)
            if len(calls) == 5:
                signal.raise_signal(signal.SIGINT)
        return solve(self, *args, **chosen)

    monkeypatch.setattr(Solver, 'solve_batch', interrupted)
    picture = tmp_path / 'a.png'
    words = ('--link', 'tip', '--grid', 40, '--threads', 2, '--plot', picture)
    code, out, err, rows = run(arm, *words)
    assert (code, out) == (130, '')
    assert 0 < len(rows) < 1600
    assert re.search(r'stopped; \d+ of \d+ points reached \(of 1600 in all\).*out\.csv', err)
    assert picture.stat().st_size > 0


def test_options_of_reach_page_exist(repository, capsys):
    text = (repository / 'docs' / 'reach.md').read_text()
    for command in ('reach', 'view'):
        with pytest.raises(SystemExit):
            main([command, '--help'])
    known = capsys.readouterr().out
    options = set(re.findall(r'(--[a-z]+)', text))
    assert options >= {'--link', '--dof', '--plot'}
    assert {option for option in options if option not in known} == set()
    for target in re.findall(r'\]\(([\w./]+)\)', text):
        assert (repository / 'docs' / target).is_file()
    assert 'docs/reach.md' in (repository / 'README.md').read_text()


def test_python_block_of_the_reach_page_runs(repository, tmp_path):
    """With a copy of the robot, in a folder of its own, because it writes a file."""
    text = (repository / 'docs' / 'reach.md').read_text()
    (block,) = re.findall(r'^```python\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)
    (tmp_path / 'urdf').mkdir()
    shutil.copy(repository / 'urdf' / 'delta.urdf', tmp_path / 'urdf')
    done = subprocess.run(
        [sys.executable, '-c', block],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, 'PYTHONPATH': str(repository)},
    )
    assert done.returncode == 0, done.stderr
    assert re.match(r"<ReachVolume of 'platform_link': \d+ of \d+ cells", done.stdout)
    assert (tmp_path / 'platform.npz').is_file()
