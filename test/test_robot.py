"""A robot combines description, model and solver."""

from ik_node.description.files import description_path
from ik_node.errors import DescriptionError, OptionError, ShapeError, UnknownFrameError
from ik_node.robot import load_robot
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.fourbar_urdf import FOURBAR
from support.naive import naive_of


@pytest.fixture
def bars():
    """Return the four-bar with its loop closed."""
    return load_robot(FOURBAR)


@pytest.fixture(scope='module')
def hexapod():
    """Return the hexapod of the gallery."""
    return load_robot(description_path('hexapod.urdf'))


def test_joint_names_follow_order_of_description(bars):
    """The list contains every movable joint, including mimic joints."""
    assert bars.name == 'bars'
    assert bars.joint_names == ['rock', 'drive', 'middle', 'nod', 'shake']
    assert set(bars.links) == {'ground', 'crank', 'coupler', 'rocker', 'lamp', 'shade'}
    assert list(bars.closures) == ['tie']
    assert dict(bars.goals) == {}
    assert bars.root.name == 'ground'


def test_missing_limits_of_all_kinds_are_infinite(bars):
    """Limits, velocities and efforts are those of the description, or infinite."""
    assert bars.lower.tolist() == [-np.inf, 0.2, -np.inf, -1.0, -0.3]
    assert bars.upper.tolist() == [np.inf, 2.8, np.inf, 1.0, 0.3]
    assert bars.max_velocity.tolist() == [np.inf, 3.0, np.inf, 2.0, 2.0]
    assert bars.max_effort.tolist() == [np.inf, 1.0, np.inf, 1.0, 1.0]


def test_loops_are_closed_on_load(bars):
    """Zero values do not close the loop; the loaded values do."""
    assert bars.assembly.status is Status.CONVERGED
    assert max(bars.assembly.closure_errors['tie']) <= 1e-6
    assert max(naive_of(bars).error(bars.closures['tie'])) <= 1e-6
    raw = load_robot(FOURBAR, assemble=False)
    assert raw.assembly is None
    assert max(naive_of(raw).error(raw.closures['tie'])) > 0.1


def test_q_is_a_copy_and_its_setter_clamps(bars):
    """Writing into q has no effect; assigning q clamps to the limits."""
    q = bars.q
    q[:] = 9.0
    assert bars.q.max() < 9.0
    bars.q = q
    assert bars.q.tolist() == [9.0, 2.8, 9.0, 1.0, 0.3]
    with pytest.raises(ShapeError, match=r'q: expected shape \(5,\), got shape \(4,\)'):
        bars.q = np.zeros(4)


def test_locks_reduce_mobility(bars, hexapod):
    """Mobility counts the degrees of freedom with the loops closed."""
    assert bars.mobility == 2
    bars.joints['nod'].lock()
    assert bars.mobility == 1
    bars.joints['drive'].lock()
    assert bars.mobility == 0
    assert hexapod.mobility == 6


def test_forward_equals_oracle_for_every_link(bars, hexapod):
    """Poses of all links at random values, with mimic joints as given."""
    rng = np.random.default_rng(1)
    for robot in (bars, hexapod):
        q = rng.uniform(-0.2, 0.2, len(robot.joint_names))
        oracle = naive_of(robot, q)
        for name, link in robot.links.items():
            np.testing.assert_allclose(robot.forward(q, name), oracle.world(link), atol=1e-13)


def test_jacobian_is_derivative_of_forward(hexapod):
    """Six rows by all values, in root axes."""
    q, step = hexapod.q, 1e-6
    link = list(hexapod.links)[-1]
    found = hexapod.jacobian(q, link)
    assert found.shape == (6, len(q))
    for at in range(len(q)):
        moved = [hexapod.forward(q + sign * step * np.eye(len(q))[at], link) for sign in (1, -1)]
        linear = (moved[0] - moved[1])[:3, 3] / (2 * step)
        turn = Rotation.from_matrix(moved[0][:3, :3] @ moved[1][:3, :3].T).as_rotvec()
        np.testing.assert_allclose(found[:, at], [*linear, *(turn / (2 * step))], atol=1e-8)


@pytest.mark.parametrize('method', ['forward', 'jacobian'])
def test_unknown_link_and_bad_q_are_named_in_error(bars, method):
    """The error names the link or the joint."""
    ask = getattr(bars, method)
    with pytest.raises(UnknownFrameError, match="no link named 'nose'; known: ground"):
        ask(bars.q, 'nose')
    with pytest.raises(ShapeError, match=r'q: expected shape \(5,\)'):
        ask([0, 0], 'crank')
    with pytest.raises(ShapeError, match='finite'):
        ask([0, 0, np.nan, 0, 0], 'crank')


def test_many_notes_of_one_kind_are_one_note_with_a_count():
    """Two hundred joints without limits fill one line, a few are named one by one."""

    def notes(count):
        joints = ''.join(
            f'<link name="l{i + 1}"/><joint name="j{i}" type="revolute"><parent link="l{i}"/>'
            f'<child link="l{i + 1}"/><axis xyz="0 0 1"/></joint>'
            for i in range(count)
        )
        return load_robot(f'<robot name="r"><link name="l0"/>{joints}</robot>').notes

    (note,) = notes(200)
    assert note.startswith("joint 'j0': no <limit>, taken as unlimited; 199 more notes of this")
    assert notes(2) == [f"joint 'j{i}': no <limit>, taken as unlimited" for i in range(2)]


def test_actuated_never_names_a_follower_and_can_be_set():
    """A mimic joint has no motor of its own; a joint with several masters may have one."""
    joints = ''.join(
        f'<joint name="{name}" type="continuous"><parent link="base"/><child link="{name}_link"/>'
        f'{more}</joint><link name="{name}_link"/>'
        f'<transmission name="{name}"><joint name="{name}"/></transmission>'
        for name, more in (('a', ''), ('b', '<mimic joint="a"/>'), ('c', ''))
    )
    robot = load_robot(f'<robot name="r"><link name="base"/>{joints}</robot>')
    assert robot.actuated == ['a', 'c']
    assert any("'b' has a motor" in note for note in robot.notes)
    robot.actuated = ['c']
    assert robot.actuated == ['c']
    assert robot.transmission(joints=['c']).actuators == ['c']
    with pytest.raises(OptionError, match="'a', its master"):
        robot.actuated = ['b']
    with pytest.raises(UnknownFrameError, match='d'):
        robot.actuated = ['d']
    robot.joints['c'].couple('EX', robot.joints['a'], 'EX', (0.0, 2.0))
    assert robot.actuated == []
    robot.joints['b'].uncouple('EX')
    robot.joints['c'].couple_sum('EX', [(robot.joints[n], 'EX', 1.0) for n in 'ab'])
    assert robot.actuated == ['c']


@pytest.mark.parametrize('name', ['hexapod', 'walker'])
def test_forward_of_many_configurations_equals_that_of_each(name):
    """For every link, across the blocks in which they are computed."""
    robot = load_robot(name)
    q = np.random.default_rng(5).uniform(-3, 3, (700, len(robot.joint_names)))
    for link in robot.links:
        many = robot.forward(q, link)
        assert many.shape == (700, 4, 4)
        for row in (0, 511, 512, 699):
            np.testing.assert_allclose(many[row], robot.forward(q[row], link), atol=1e-13)
    assert robot.forward(q[:0], link).shape == (0, 4, 4)
    np.testing.assert_array_equal(robot.forward(q[:2].tolist(), link), many[:2])


@pytest.mark.parametrize(
    ('coupling', 'line'),
    [
        ('<mimic joint="a" multiplier="-1"/></joint>', 5),
        ('</joint><joint_coupling joint="b" of="a" coefficients="0 -1"/>', 5),
    ],
)
def test_coupling_that_limits_do_not_allow_is_refused_with_its_line(coupling, line):
    """Both sliders have a travel on one side of zero, and the sign of the mimic is wrong."""
    joints = ''.join(
        f'<link name="l{name}"/>\n<joint name="{name}" type="prismatic"><parent link="base"/>'
        f'<child link="l{name}"/><limit lower="0.01" upper="0.02"/>\n{end}'
        for name, end in (('a', '</joint>'), ('b', coupling))
    )
    text = f'<robot name="r"><link name="base"/>{joints}</robot>'
    with pytest.raises(
        DescriptionError, match=r"limits of 'b': .*leave 'a', which it follows"
    ) as e:
        load_robot(text)
    assert e.value.line == line
