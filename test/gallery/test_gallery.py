"""Our own robots: found wherever they are installed, and able to do what they are sent to do."""

from pathlib import Path
import shutil
import tempfile

from ik_node.description import files as place
from ik_node.description.files import description_path
from ik_node.errors import DescriptionError, UnknownFrameError
from ik_node.gallery import gallery_item, NAMES
from ik_node.gallery.launch_item import parameter_file
from ik_node.gallery.sway import ramp, ramped
import numpy as np
import pytest
from support.gallery_motion import flat, followed, loaded, WITH_FILES
from support.naive import naive_of
import yaml

# Their goals ask for less than a pose, and their motions do not say what the rest will be.
LEFT_OPEN = ('partial_goal_arm', 'ccd_arm', 'gradient_arm')
STEP = 0.04  # [s]


@pytest.mark.parametrize('name', NAMES)
def test_motion_begins_where_the_robot_is(name):
    """The first goals are no jump."""
    for position, quat_xyzw in gallery_item(name).motion(0.0).values():
        assert position == (0.0, 0.0, 0.0)
        assert quat_xyzw == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize('name', NAMES)
def test_each_item_has_a_one_line_description(name):
    """One that fits beside its name on a screen."""
    about = gallery_item(name).about
    assert 20 < len(about) < 100
    assert not about.endswith('.')


@pytest.mark.parametrize('whole', [False, True], ids=['asked', 'six axes'])
@pytest.mark.parametrize('name', NAMES)
def test_motion_can_be_followed(name, whole):
    """Every goal of two rounds is met, by its own axes and by all six, and the loops close."""
    item = gallery_item(name)
    if whole and (item.standing or name in LEFT_OPEN):
        return
    robot = loaded(name)
    targets = [*item.joint_targets(0.0)] if item.joint_targets else []
    steady = ~np.isin(robot.joint_names, targets)
    q = robot.q
    for index, (_, solution) in enumerate(followed(robot, name, np.arange(0.0, 8.0, STEP), whole)):
        assert solution.status.name in ('CONVERGED', *(() if item.reachable else ('STALLED',)))
        step = np.abs(solution.q - q)
        # Wheels roll faster than anything else that is not a jump.
        assert step[steady].max() < 2.5 * STEP
        assert (step <= robot.max_velocity * STEP + 1e-9).all()
        q = solution.q
        if index % 2 and robot.closures:
            there = naive_of(robot, q)
            assert max(max(there.error(loop)) for loop in robot.closures.values()) < 1e-6
            assert there.coupling_gap() < 1e-12
            assert there.limit_excess() <= 0.0


@pytest.mark.parametrize('name', NAMES)
def test_motion_moves_every_motor(name):
    """No robot stands still: every motor turns by a twentieth of its range at least."""
    robot = loaded(name)
    path = [solution.q for _, solution in followed(robot, name, np.arange(0.0, 5.0, 0.1))]
    motors = [robot.joint_names.index(motor) for motor in robot.actuated]
    # What turns without end has a whole turn to go.
    share = np.ptp(path, axis=0) / np.minimum(robot.upper - robot.lower, 2.0 * np.pi)
    assert share[motors].min() > 0.05


@pytest.mark.parametrize('name', WITH_FILES)
def test_config_file_contains_only_parameters_of_item_and_rate(repository, name):
    """config/NAME.yaml tells the node what the item does, and nothing but the rate beside."""
    declared = yaml.safe_load((repository / 'config' / f'{name}.yaml').read_text())
    values = flat(declared['/**']['ros__parameters'])
    assert values == {'rate': 250.0, **gallery_item(name).parameters}


@pytest.mark.parametrize('name', [name for name in NAMES if name not in WITH_FILES])
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


def test_parameter_files_agree_with_the_items(repository):
    """It is taken from where it is installed."""
    for name in WITH_FILES:
        assert parameter_file(gallery_item(name)) == repository / 'config' / f'{name}.yaml'


@pytest.mark.parametrize('name', NAMES)
def test_goals_targets_and_options_fit_the_robot(name):
    """What the item names is there, and what stands on the ground has a ground to stand on."""
    item, robot = gallery_item(name), loaded(name)
    asked = {*item.motion(0.0), *item.standing}
    assert asked == {*item.goals} >= {*item.dof}
    assert {*item.goals.values()} <= {*robot.links}
    assert {*(item.joint_targets(1.0) if item.joint_targets else ())} <= {*robot.joint_names}
    assert bool(item.standing) == (item.ground is not None)
    told = {f'solver.{option}': value for option, value in item.options.items()}
    assert item.parameters.items() >= told.items()


def test_unknown_item_is_refused():
    """The items there are are named."""
    with pytest.raises(UnknownFrameError, match=r'dragon.*hexapod'):
        gallery_item('dragon')


def test_description_of_the_checkout_is_found(repository):
    """Beside package.xml, in urdf/."""
    assert description_path('hexapod.urdf') == repository / 'urdf' / 'hexapod.urdf'


@pytest.mark.parametrize('library', ['lib/python3.11/site-packages', 'local/lib/dist-packages'])
def test_description_of_an_installation_is_found(tmp_path, monkeypatch, repository, library):
    """In share/ik_node/urdf of the prefix that the package is in."""
    share = tmp_path / 'share' / 'ik_node' / 'urdf'
    share.mkdir(parents=True)
    shutil.copy(repository / 'urdf' / 'hexapod.urdf', share)
    monkeypatch.setattr(
        place, '__file__', str(tmp_path / library / 'ik_node' / 'description' / 'own_robots.py')
    )
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    assert description_path('hexapod.urdf') == share / 'hexapod.urdf'


def test_description_of_an_ament_prefix_is_found(tmp_path, monkeypatch):
    """Or of one of the sourced prefixes."""
    share = tmp_path / 'share' / 'ik_node' / 'urdf'
    share.mkdir(parents=True)
    (share / 'other.urdf').touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path}')
    assert description_path('other.urdf') == Path(share / 'other.urdf')


def test_missing_description_is_refused():
    """The file is named."""
    with pytest.raises(DescriptionError, match=r'no_such\.urdf'):
        description_path('no_such.urdf')


def test_ramp_rises_without_jump():
    """`ramp` rises without a jump, and `ramped` is how far it has come."""
    times = np.linspace(0.0, 3.0, 3001)
    speeds = np.array([ramp(time) for time in times])
    assert (speeds[0], speeds[-1]) == (0.0, 1.0)
    assert (np.diff(speeds) >= 0.0).all()
    way = np.concatenate(([0.0], np.cumsum(0.5 * (speeds[1:] + speeds[:-1]) * np.diff(times))))
    np.testing.assert_allclose([ramped(time) for time in times], way, atol=1e-6)
