"""Our own robots: found wherever they are installed, and able to do what they are sent to do."""

from pathlib import Path
import shutil

from ik_node import load_robot, Solver
from ik_node.errors import DescriptionError, UnknownFrameError
from ik_node.gallery import description_path as place
from ik_node.gallery import gallery_item, NAMES
from ik_node.gallery.description_path import description_path
from ik_node.model.rotation import matrix_to_quat, pose_matrix
from naive import naive_of
import numpy as np
import pytest
import yaml


@pytest.mark.parametrize('name', NAMES)
def test_motion_begins_where_the_robot_is(name):
    """The first goals are no jump."""
    for position, quat_xyzw in gallery_item(name).motion(0.0).values():
        assert position == (0.0, 0.0, 0.0)
        assert quat_xyzw == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize('whole', [False, True], ids=['asked', 'six axes'])
@pytest.mark.parametrize('name', NAMES)
def test_motion_can_be_followed(name, whole):
    """Every goal of two rounds is met, by its own axes and by all six, and the loops close."""
    item = gallery_item(name)
    robot = load_robot(description_path(item.description))
    homes = {goal: robot.forward(robot.q, link) for goal, link in item.goals.items()}
    for goal, link in item.goals.items():
        robot.add_goal(link, name=goal, dof=None if whole else item.dof.get(goal))
    solver = Solver(robot)
    q = robot.q
    for time in np.arange(0.0, 8.0, 0.04):
        poses = {}
        for goal, step in item.motion(float(time)).items():
            matrix = homes[goal] @ pose_matrix((0.0, 0.0, 0.0), step[1])
            poses[goal] = (homes[goal][:3, 3] + step[0], matrix_to_quat(matrix))
        solution = solver.solve_pose(poses, q0=q)
        assert solution.status.name == 'CONVERGED'
        assert np.abs(solution.q - q).max() < 0.1
        q = solution.q
        there = naive_of(robot, q)
        assert max(max(there.error(loop)) for loop in robot.closures.values()) < 1e-6
        assert there.coupling_gap() < 1e-12
        assert there.limit_excess() <= 0.0


@pytest.mark.parametrize('name', NAMES)
def test_motion_goes_somewhere(name):
    """No robot stands still: every motor turns by a twentieth of its range at least."""
    item = gallery_item(name)
    robot = load_robot(description_path(item.description))
    homes = {goal: robot.forward(robot.q, link) for goal, link in item.goals.items()}
    solver, path = Solver(robot), [robot.q]
    for time in np.arange(0.0, 5.0, 0.1):
        poses = {
            item.goals[goal]: (
                homes[goal][:3, 3] + position,
                matrix_to_quat(homes[goal] @ pose_matrix((0.0, 0.0, 0.0), quat_xyzw)),
            )
            for goal, (position, quat_xyzw) in item.motion(float(time)).items()
        }
        path.append(solver.solve_pose(poses, q0=path[-1]).q)
    motors = [robot.joint_names.index(motor) for motor in robot.actuated]
    share = np.ptp(path, axis=0) / (robot.upper - robot.lower)
    assert share[motors].min() > 0.05


@pytest.mark.parametrize('name', NAMES)
def test_parameters_are_in_config(repository, name):
    """config/NAME.yaml tells the node what the item does, and nothing but the rate beside."""
    declared = yaml.safe_load((repository / 'config' / f'{name}.yaml').read_text())
    values = declared['/**']['ros__parameters']
    assert values.pop('rate') == 250.0
    for goal, fields in values.pop('goals').items():
        values.update({f'goals.{goal}.{key}': value for key, value in fields.items()})
    assert values == gallery_item(name).parameters


def test_unknown_item():
    """The items there are are named."""
    with pytest.raises(UnknownFrameError, match=r'dragon.*hexapod'):
        gallery_item('dragon')


def test_description_of_the_checkout(repository):
    """Beside package.xml, in urdf/."""
    assert description_path('hexapod.urdf') == repository / 'urdf' / 'hexapod.urdf'


@pytest.mark.parametrize('library', ['lib/python3.11/site-packages', 'local/lib/dist-packages'])
def test_description_of_an_installation(tmp_path, monkeypatch, repository, library):
    """In share/ik_node/urdf of the prefix that the package is in."""
    share = tmp_path / 'share' / 'ik_node' / 'urdf'
    share.mkdir(parents=True)
    shutil.copy(repository / 'urdf' / 'hexapod.urdf', share)
    monkeypatch.setattr(
        place, '__file__', str(tmp_path / library / 'ik_node' / 'gallery' / 'description_path.py')
    )
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    assert description_path('hexapod.urdf') == share / 'hexapod.urdf'


def test_description_of_an_ament_prefix(tmp_path, monkeypatch):
    """Or of one of the sourced prefixes."""
    share = tmp_path / 'share' / 'ik_node' / 'urdf'
    share.mkdir(parents=True)
    (share / 'other.urdf').touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path}')
    assert description_path('other.urdf') == Path(share / 'other.urdf')


def test_missing_description():
    """The file is named."""
    with pytest.raises(DescriptionError, match=r'no_such\.urdf'):
        description_path('no_such.urdf')
