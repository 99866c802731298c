"""Masses of links: read, refused, carried along, and the centre of them all."""

from xml.etree import ElementTree

from ik_node.errors import ShapeError, TopologyError, UnknownFrameError
from ik_node.robot import load_robot
import numpy as np
import pytest
from support.naive import naive_of

CRANE = """<robot name="crane">
  <link name="base"><inertial><mass value="10"/><origin xyz="0 0 0.1" rpy="1 2 3"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="boom"><inertial><mass value="2.5"/><origin xyz="0.5 0 0"/></inertial></link>
  <link name="lamp"><inertial><mass value="0.5"/></inertial></link>
  <link name="shade"><inertial><origin xyz="0 0 -0.2"/><mass value="1.5"/></inertial></link>
  <link name="hook"/>
  <joint name="swing" type="revolute"><parent link="base"/><child link="boom"/>
    <origin xyz="0 0 1"/><axis xyz="0 -1 0"/><limit lower="-1" upper="2"/></joint>
  <joint name="lamp_fixed" type="fixed"><parent link="boom"/><child link="lamp"/>
    <origin xyz="0.8 0.3 0" rpy="0 0 1.5707963267948966"/></joint>
  <joint name="shade_fixed" type="fixed"><parent link="lamp"/><child link="shade"/>
    <origin xyz="0.1 0 0"/></joint>
  <joint name="hoist" type="prismatic"><parent link="boom"/><child link="hook"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 -1"/><limit lower="0" upper="2"/></joint>
</robot>"""


@pytest.fixture
def crane():
    """Return the crane."""
    return load_robot(CRANE)


def centre_by_hand(angle):
    """Return the crane's centre of mass, its boom raised by an angle about -Y."""
    turned = np.array(
        ((np.cos(angle), 0, -np.sin(angle)), (0, 1, 0), (np.sin(angle), 0, np.cos(angle)))
    )
    on_boom = 2.5 * np.array((0.5, 0, 0)) + 0.5 * np.array((0.8, 0.3, 0))
    on_boom += 1.5 * np.array((0.8, 0.4, -0.2))  # the shade's x is the boom's y
    return (10 * np.array((0, 0, 0.1)) + 4.5 * np.array((0, 0, 1)) + turned @ on_boom) / 14.5


def test_masses_are_read(crane):
    """Mass and centre of each link in its own frame; none without <inertial>."""
    found = {name: (link.mass, link.centre_of_mass.tolist()) for name, link in crane.links.items()}
    assert found == {
        'base': (10.0, [0, 0, 0.1]),
        'boom': (2.5, [0.5, 0, 0]),
        'lamp': (0.5, [0, 0, 0]),
        'shade': (1.5, [0, 0, -0.2]),
        'hook': (0.0, [0, 0, 0]),
    }
    assert crane.mass == 14.5


@pytest.mark.parametrize('angle', [0.0, 0.7, -0.9, 2.0])
def test_centre_of_mass_is_the_weighted_mean(crane, angle):
    """The weighted mean of all links, at the values given and not at the present ones."""
    np.testing.assert_allclose(
        crane.centre_of_mass([angle, 0.4]), centre_by_hand(angle), atol=1e-12
    )


def test_centre_of_mass_of_a_branch_is_its_own(crane):
    """Of a link and what it carries; the rest does not count."""
    np.testing.assert_allclose(crane.centre_of_mass([0, 0], 'shade'), (0.8, 0.4, 0.8), atol=1e-12)
    below = (0.5 * np.array((0.8, 0.3, 1)) + 1.5 * np.array((0.8, 0.4, 0.8))) / 2
    np.testing.assert_allclose(crane.centre_of_mass([0, 0], 'lamp'), below, atol=1e-12)


@pytest.mark.parametrize('root', ['fixed', 'floating'])
def test_trimming_keeps_mass(root):
    """A branch that is left out leaves its mass with the link it hung on."""
    whole = load_robot(CRANE, root=root)
    less = load_robot(CRANE, root=root, trim_unused=True)
    assert list(less.links) == ['base', 'boom', 'hook']
    assert less.mass == whole.mass
    assert less.links['boom'].mass == 4.5
    for q in np.random.default_rng(1).uniform(-1, 2, (5, len(whole.joint_names))):
        np.testing.assert_allclose(less.centre_of_mass(q), whole.centre_of_mass(q), atol=1e-12)


def test_centre_without_mass_is_refused(crane):
    """Wrong q, unknown links, and parts without any mass are told by name."""
    with pytest.raises(ShapeError, match=r'q: expected shape \(2,\)'):
        crane.centre_of_mass([0, 0, 0])
    with pytest.raises(ShapeError, match=r'q: expected finite numbers, got NaN .* for hoist'):
        crane.centre_of_mass([0, np.nan])
    with pytest.raises(UnknownFrameError, match="no link named 'jib'; known: base"):
        crane.centre_of_mass([0, 0], 'jib')
    with pytest.raises(TopologyError, match="'hook' has no mass: give the links"):
        crane.centre_of_mass([0, 0], 'hook')
    bare = load_robot('<robot name="r"><link name="a"/></robot>')
    assert bare.mass == 0.0
    with pytest.raises(TopologyError, match="'r' has no mass: give the links"):
        bare.centre_of_mass([])


@pytest.mark.parametrize(
    ('model', 'total'),
    [
        ('ur5e/ur5e.urdf', 21.7),
        ('athlete_t12/T12_flipped.URDF', None),
        ('gepetto_digit_leg/robot.urdf', None),
        ('closed_loop_2bt/closed_loop.urdf', 20.0),
        ('robotiq_2f85_ros2/robotiq_2f85_ros2.urdf', None),
    ],
)
def test_models_have_their_published_mass(shared, model, total):
    """The mean of the file's own numbers, put where an independent product has the links."""
    path = shared / 'models' / model
    robot = load_robot(path, assemble=False)
    q = np.clip(
        np.random.default_rng(2).uniform(-1, 1, len(robot.joint_names)), robot.lower, robot.upper
    )
    there = naive_of(robot, q)
    sums = np.zeros(4)
    for link in ElementTree.parse(path).getroot().iter('link'):
        for inertial in link.findall('inertial'):
            origin = inertial.find('origin')
            point = (
                np.zeros(3) if origin is None else [float(x) for x in origin.get('xyz').split()]
            )
            mass = float(inertial.find('mass').get('value'))
            moved = there.world(robot.links[link.get('name')]) @ [*point, 1.0]
            sums += mass * moved
    assert robot.mass == pytest.approx(sums[3], rel=1e-12)
    if total is not None:
        assert robot.mass == pytest.approx(total, abs=1e-6)
    np.testing.assert_allclose(robot.centre_of_mass(q), sums[:3] / sums[3], atol=1e-12)
