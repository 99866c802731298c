"""Robots that load by name: the list of them, the gripper, and those of robot_descriptions."""

from ik_node.cli.main import main
from ik_node.description.files import own_robots
from ik_node.errors import DescriptionError
from ik_node.robot import load_robot
from ik_node.solver import Solver
import numpy as np
import pytest


def test_models_lists_every_robot_with_mobility_motors_loops_and_a_sentence(capsys):
    assert main(['models']) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows[1:]] == sorted(own_robots())
    row = next(row for row in rows if row[0] == 'robotiq_2f85')
    assert row[1:4] == ['1', '1', '2']
    assert all(len(row) > 6 for row in rows)


def test_robotiq_closes_85_mm_with_parallel_pads():
    robot = load_robot('robotiq_2f85')
    assert (robot.actuated, int(robot.mobility)) == (['right_driver'], 1)
    solver = Solver(robot)
    openings = []
    for angle in np.linspace(0.0, 0.78, 9):
        answer = solver.drive({'right_driver': angle}, robot.q)
        assert answer.converged
        right, left = (robot.forward(answer.q, f'{side}_pad_link') for side in ('right', 'left'))
        assert np.abs(right[:3, 3] * (1, -1, 1) - left[:3, 3]).max() < 1e-6
        assert right[1, 1] > np.cos(np.deg2rad(2.0))
        openings.append(right[1, 3] - left[1, 3])
    assert openings[0] == pytest.approx(0.0854, abs=1e-4)
    assert 0.0 < openings[-1] < 1e-3
    assert (np.diff(openings) < 0.0).all()


def test_names_of_robot_descriptions_load_where_it_is_installed(tmp_path, monkeypatch):
    with pytest.raises(DescriptionError, match='pip install robot_descriptions'):
        load_robot('five_description')
    package = tmp_path / 'robot_descriptions'
    package.mkdir()
    (package / '__init__.py').touch()
    path = own_robots()['fivebar']
    (package / 'five_description.py').write_text(f'URDF_PATH = {str(path)!r}\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert load_robot('five_description').name == 'fivebar'
    with pytest.raises(DescriptionError, match='no such robot'):
        load_robot('six_description')
    (package / 'far_description.py').write_text("raise RuntimeError('git: 128\\n  no host')")
    with pytest.raises(DescriptionError, match=r'cannot fetch its files.*: no host'):
        load_robot('far_description')
