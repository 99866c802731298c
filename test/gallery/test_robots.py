"""Our own robots: found wherever they are installed, and able to do what they are sent to do."""

from pathlib import Path
import shutil
import tempfile
from xml.etree import ElementTree

from ik_node import DOF, Solver
from ik_node.description import files as place
from ik_node.description.files import description_path
from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
from ik_node.gallery import gallery_item, NAMES
from ik_node.gallery.gallery_item import ramp, ramped
from ik_node.gallery.launch_item import parameter_file
import numpy as np
import pytest
from support.gallery_motion import flat, followed, loaded, WITH_FILES
from support.naive import Naive, naive_of
import yaml

# Their goals ask for less than a pose, and their motions do not say what the rest will be.
LEFT_OPEN = ('partial_goal_arm', 'arm_at_shelf', 'ccd_arm', 'gradient_arm')
STEP = 0.05  # [s]
# mobility, redundant rows, number of motors
FACTS = {
    **dict.fromkeys(('hexapod', 'hexapod_gyrate', 'hexapod_rotate', 'hexapod_tilt'), (6, 0, 6)),
    'delta': (3, 0, 3),
    'fivebar': (2, 3, 2),
    'gripper': (1, 6, 1),
    'walker': (6, 0, 12),
    'palletizer': (4, 9, 4),
    'scissor_lift': (1, 15, 1),
    'strandbeest': (1, 36, 1),
    'peaucellier': (1, 9, 1),
    # Six of the box, and the elbows, which swing round while the box stands still.
    'two_arms_one_box': (8, 0, 14),
    'knee_leg': (3, 3, 3),
    'ankle': (2, 0, 2),
    # The swing and three planar chains, with three redundant rows for each of four pins.
    'excavator': (4, 12, 4),
    # Six of the chassis, the differential, two bogies, and ten that move wheels only.
    'rocker_bogie': (19, 0, 10),
    **dict.fromkeys(('partial_goal_arm', 'arm6', 'arm_at_shelf', 'dh_arm'), (6, 0, 6)),
    **dict.fromkeys(('rover_arm', 'ccd_arm'), (5, 0, 5)),
    'gradient_arm': (4, 0, 4),
    'chain100': (100, 0, 100),
    # Six of the body, whose legs have six hinges each and follow.
    'six_legged_rover': (6, 0, 36),
    # Six of the body, the knees, which swing round while the body stands still, and both arms.
    'climber': (22, 0, 28),
    'biped': (6, 0, 12),
    # Six of the pelvis, three of the waist, two of the neck, six of each leg, seven of each arm.
    'humanoid': (37, 0, 31),
    # Six of the body and six of the arm.
    'quadruped_arm': (12, 0, 18),
}


def endless(path):
    joints = ElementTree.parse(path).getroot().findall('joint')
    return {joint.get('name') for joint in joints if joint.get('type') == 'continuous'}


@pytest.mark.parametrize('name', NAMES)
def test_description_has_stated_properties_and_closed_loops(name):
    """Mobility and motors are those of the kind; at zero, inside all limits, loops are closed."""
    item, robot = gallery_item(name), loaded(name)
    path = description_path(item.description)
    mobility = robot.mobility
    assert (mobility, mobility.redundant_rows, len(robot.actuated)) == FACTS[name]
    assert (robot.notes, len(robot.roots)) == ([], 1)
    # The text alone, as it goes over a topic, has the same loops and motors.
    description = read_description(path.read_text())
    assert [*description.closures] == [*robot.closures]
    assert description.actuated == robot.actuated
    there = Naive(description.roots)
    assert not any(values.any() for values in there.values.values())
    gaps = [max(there.error(loop)) for loop in description.closures.values()]
    assert max(gaps, default=0.0) < 1e-12
    for joint in description.joint_order:
        (dof,) = joint.dof
        lower, upper = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
        # Cranks and wheels turn on and on; a rover has some way to go.
        most = np.inf if joint.name in endless(path) else 4.0 if dof > DOF.Z else 10.0
        assert -most <= lower < 0.0 < upper <= most
        assert np.isfinite([lower, upper]).all() == (joint.name not in endless(path))
        assert 0.0 < joint.max_velocity[dof] < np.inf
    # What the item names is there, and what stands on the ground has a ground to stand on.
    assert {*item.motion(0.0), *item.standing} == {*item.goals} >= {*item.dof}
    assert {*item.goals.values()} <= {*robot.links}
    assert {*(item.joint_targets(1.0) if item.joint_targets else ())} <= {*robot.joint_names}
    assert bool(item.standing) == (item.ground is not None)
    told = {f'solver.{option}': value for option, value in item.options.items()}
    assert item.parameters.items() >= told.items()
    assert 20 < len(item.about) < 100


@pytest.mark.parametrize('name', NAMES)
def test_motion_can_be_followed(name):
    """It begins at rest, every goal is met by all its axes, loops close, and every motor moves."""
    item = gallery_item(name)
    for position, quat_xyzw in item.motion(0.0).values():
        assert [*position, *quat_xyzw] == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    robot = loaded(name)
    targets = [*item.joint_targets(0.0)] if item.joint_targets else []
    steady = ~np.isin(robot.joint_names, targets)
    whole = not (item.standing or name in LEFT_OPEN)
    path = [robot.q]
    for index, (_, solution) in enumerate(followed(robot, name, np.arange(0.0, 8.0, STEP), whole)):
        assert solution.status.name in ('CONVERGED', *(() if item.reachable else ('STALLED',)))
        step = np.abs(solution.q - path[-1])
        # Wheels roll faster than anything else that is not a jump.
        assert step[steady].max() < 2.5 * STEP
        assert (step <= robot.max_velocity * STEP + 1e-9).all()
        path.append(solution.q)
        if index % 10 == 0 and robot.closures:
            there = naive_of(robot, solution.q)
            assert max(max(there.error(loop)) for loop in robot.closures.values()) < 1e-6
            assert there.coupling_gap() < 1e-12
            assert there.limit_excess() <= 0.0
    motors = [robot.joint_names.index(motor) for motor in robot.actuated]
    # What turns without end has a whole turn to go.
    share = np.ptp(path, axis=0) / np.minimum(robot.upper - robot.lower, 2.0 * np.pi)
    assert share[motors].min() > 0.05


@pytest.mark.parametrize('name', WITH_FILES)
def test_config_file_contains_only_parameters_of_item_and_rate(repository, name):
    """config/NAME.yaml tells the node what the item does, and nothing but the rate beside."""
    assert parameter_file(gallery_item(name)) == repository / 'config' / f'{name}.yaml'
    declared = yaml.safe_load((repository / 'config' / f'{name}.yaml').read_text())
    values = flat(declared['/**']['ros__parameters'])
    assert values == {'rate': 250.0, **gallery_item(name).parameters}


@pytest.mark.parametrize('name', ['ccd_arm', 'rocker_bogie', 'humanoid'])
def test_parameter_file_is_written_if_config_has_none(name, tmp_path, monkeypatch):
    """Where there is no config/NAME.yaml, a file says the same, with words in quotes."""
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    item = gallery_item(name)
    path = parameter_file(item)
    assert path.parent == tmp_path
    values = flat(yaml.safe_load(path.read_text())['/**']['ros__parameters'])
    assert values == {'rate': 250.0, **item.parameters}
    for axes in item.dof.values():
        assert f'"dof": "{axes}"' in path.read_text()


def test_description_of_the_checkout_is_found(repository):
    assert description_path('hexapod.urdf') == repository / 'urdf' / 'hexapod.urdf'


@pytest.mark.parametrize('library', ['lib/python3.11/site-packages', 'local/lib/dist-packages'])
def test_description_of_an_installation_is_found(tmp_path, monkeypatch, repository, library):
    share = tmp_path / 'share' / 'ik_node' / 'urdf'
    share.mkdir(parents=True)
    shutil.copy(repository / 'urdf' / 'hexapod.urdf', share)
    monkeypatch.setattr(
        place, '__file__', str(tmp_path / library / 'ik_node' / 'description' / 'own_robots.py')
    )
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    assert description_path('hexapod.urdf') == share / 'hexapod.urdf'


def test_description_of_an_ament_prefix_is_found(tmp_path, monkeypatch):
    share = tmp_path / 'share' / 'ik_node' / 'urdf'
    share.mkdir(parents=True)
    (share / 'other.urdf').touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path}')
    assert description_path('other.urdf') == Path(share / 'other.urdf')


def test_missing_description_is_refused():
    with pytest.raises(DescriptionError, match=r'no_such\.urdf'):
        description_path('no_such.urdf')


def test_ramp_rises_without_jump():
    times = np.linspace(0.0, 3.0, 3001)
    speeds = np.array([ramp(time) for time in times])
    assert (speeds[0], speeds[-1]) == (0.0, 1.0)
    assert (np.diff(speeds) >= 0.0).all()
    way = np.concatenate(([0.0], np.cumsum(0.5 * (speeds[1:] + speeds[:-1]) * np.diff(times))))
    np.testing.assert_allclose([ramped(time) for time in times], way, atol=1e-6)


@pytest.mark.parametrize('opening', [0.01, 0.085])
def test_gripper_fingers_mirror_each_other(opening):
    robot = loaded('gripper')
    robot.add_goal('left_tip_link', name='grip', dof='X')
    wanted = ((0.5 * opening, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    solution = Solver(robot).solve_pose({'grip': wanted})
    assert solution.status.name == 'CONVERGED'
    left = robot.forward(solution.q, 'left_tip_link')
    right = robot.forward(solution.q, 'right_tip_link')
    assert left[0, 3] == pytest.approx(0.5 * opening, abs=1e-6)
    np.testing.assert_allclose(right[:3, 3], left[:3, 3] * (-1.0, 1.0, 1.0), atol=1e-6)
    np.testing.assert_allclose([left[:3, :3], right[:3, :3]], [np.eye(3)] * 2, atol=1e-6)
