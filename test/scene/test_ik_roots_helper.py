"""The whole of a scene: its names, its sources, and what becomes of it as the graph changes."""

import dataclasses

from ik_node import Joint, Link, load_robot, Solver
from ik_node.description.files import description_path
from ik_node.errors import ShapeError, TopologyError
from ik_node.scene import IKRootsHelper, LAYERS
import numpy as np
import pytest
from support.mechanisms import MECHANISMS
from support.open_mechanisms import arm6


def names(helper, **what):
    """Return the names of all shapes, in order."""
    return [shape.name for shape in helper.shapes(**what)]


def close(one, other):
    """Return whether two lists of shapes are alike, numbers to 1e-12."""
    flat = []
    for shapes in (one, other):
        words, numbers = [], []
        for shape in shapes:
            for value in dataclasses.astuple(shape):
                numeric = isinstance(value, (float, tuple))
                (numbers.extend if numeric else words.append)(
                    np.atleast_1d(value) if numeric else value
                )
        flat.append((words, numbers))
    (words_a, numbers_a), (words_b, numbers_b) = flat
    return words_a == words_b and np.allclose(numbers_a, numbers_b, atol=1e-12)


@pytest.mark.parametrize('name', MECHANISMS)
def test_shape_names_are_unique_and_constant(name):
    """No two shapes share a name, and a name keeps its kind and layer wherever the robot goes."""
    m = MECHANISMS[name]()
    helper = IKRootsHelper(m.roots, layers=LAYERS)
    kinds = {}
    for seed in range(3):
        q = m.random_q(helper.joint_names, np.random.default_rng(seed))
        shapes = helper.shapes(q)
        assert len({shape.name for shape in shapes}) == len(shapes)
        for shape in shapes:
            assert shape.name.startswith(f'{shape.layer}/')
            assert shape.layer in LAYERS
            found = (type(shape), shape.layer, shape.of)
            assert kinds.setdefault(shape.name, found) == found
    assert names(IKRootsHelper(m.roots, layers=LAYERS)) == names(helper)


@pytest.mark.parametrize('name', MECHANISMS)
def test_nothing_is_drawn_twice(name):
    """No two shapes of a layer differ in their names alone, however often a root is given."""
    m = MECHANISMS[name]()
    for number, goal in enumerate(m.goals.values()):
        goal.set_position(0.1 * number, 0.2, 0.3)
    helper = IKRootsHelper(m.roots, layers=LAYERS)
    q = m.random_q(helper.joint_names, np.random.default_rng(20))
    seen = {}
    for shape in helper.shapes(q):
        looks = dataclasses.replace(shape, name='', of='')
        assert seen.setdefault(looks, shape.name) == shape.name
    twice = IKRootsHelper([*m.roots, *m.roots, *m.links.values()], layers=LAYERS)
    assert sorted(names(twice)) == sorted(names(helper))


@pytest.mark.parametrize('name', MECHANISMS)
def test_shapes_at_q_equal_shapes_of_set_joints(name):
    """The shapes at a q are those after the joints have been set to it."""
    m = MECHANISMS[name]()
    helper = IKRootsHelper(m.roots, layers=LAYERS)
    q = m.random_q(helper.joint_names, np.random.default_rng(21))
    given = helper.shapes(q)
    for value, number in zip(helper.joint_names, q, strict=True):
        joint, _, dof = value.partition('.')
        m.joints[joint].set_dof_value(dof or m.joints[joint].dof[0], number)
    assert close(given, helper.shapes())


def test_shapes_contain_no_arrays():
    """Messages and JSON take floats, tuples and texts, not arrays."""
    m = MECHANISMS['walker']()
    helper = IKRootsHelper(m.roots, layers=LAYERS, draw_through=True)
    q = m.random_q(helper.joint_names, np.random.default_rng(22))
    for shape in helper.shapes(q):
        for field in dataclasses.fields(shape):
            value = getattr(shape, field.name)
            for part in value if isinstance(value, tuple) else (value,):
                assert type(part) in (float, str, int, type(None)), (shape.name, field.name)
        assert np.linalg.norm(shape.quat_xyzw) == pytest.approx(1.0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            shape.name = ''


def test_frames_of_same_name_get_different_shape_names():
    """Links may be named alike in a picture, and frames not at all."""
    base = Link('same')
    parent = base
    for name, link_name in (('a', 'same'), ('b', 'same'), ('', ''), ('', '')):
        joint, link = Joint(name), Link(link_name)
        joint.set_dof('X', 'EZ')
        joint.set_limits('EZ', -1, 1)
        joint.set_position(0.3, 0, 0)
        parent.add_child(joint)
        joint.add_child(link)
        parent = link
    found = names(IKRootsHelper(base, layers=LAYERS))
    assert len(set(found)) == len(found)
    assert {'frames/same', 'frames/same#2', 'axes/joint.X', 'axes/joint_2.X'} <= set(found)


@pytest.mark.parametrize('name', ['hexapod', 'mixed', 'two_arms'])
def test_frame_roots_generator_and_solver_give_same_graph(name):
    """Any frame, all roots, a generator or a solver: the same graph."""
    m = MECHANISMS[name]()
    helper = IKRootsHelper(m.roots)
    solver = m.solver()
    for source in (solver, (root for root in m.roots), tuple(m.roots)):
        other = IKRootsHelper(source)
        other.update_structure()
        assert names(other) == names(helper)
        assert other.joint_names == helper.joint_names == solver.joint_names
        assert other.roots == helper.roots == solver.roots
    if name == 'hexapod':
        assert sorted(names(IKRootsHelper(m.links['top3']))) == sorted(names(helper))


BRANCHES = """
<robot name="branches"><link name="base"/><link name="a"/><link name="b"/><link name="c"/>
  <joint name="last" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="other" type="prismatic"><parent link="base"/><child link="c"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="first" type="revolute"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>
    <origin xyz="0 2 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


@pytest.mark.parametrize('source', ['hexapod', 'branches'])
def test_joint_values_of_robot_are_in_its_order(source):
    """Values of a robot are in its order, whatever that of the graph."""
    robot = load_robot(BRANCHES if source == 'branches' else description_path('hexapod.urdf'))
    robot.add_goal(list(robot.links)[-1])
    helper = IKRootsHelper(robot)
    assert helper.joint_names == robot.joint_names
    assert IKRootsHelper(Solver(robot)).joint_names == robot.joint_names
    rng = np.random.default_rng(23)
    q = rng.uniform(robot.lower, robot.upper)
    shapes = {shape.name: shape for shape in helper.shapes(q)}
    for link in robot.links:
        np.testing.assert_allclose(
            shapes[f'frames/{link}'].position, robot.forward(q, link)[:3, 3], atol=1e-12
        )


def test_invalid_sources_and_values_are_refused():
    """Sources and values are checked, and said."""
    with pytest.raises(TopologyError, match='roots must be frames'):
        IKRootsHelper(['base'])
    helper = IKRootsHelper(arm6().roots)
    with pytest.raises(ShapeError, match=r'q: expected shape \(6,\), got shape \(5,\)'):
        helper.shapes(np.zeros(5))
    with pytest.raises(ShapeError, match='NaN or infinity for j2, j6'):
        helper.shapes([0, np.nan, 0, 0, 0, np.inf])


def test_removed_joints_disappear_after_update_structure():
    """What is taken off is drawn until the structure is read anew, and then no more."""
    m = arm6()
    helper = IKRootsHelper(m.roots[0])
    before = names(helper)
    m.links['j3_link'].remove_child(m.joints['j4'])
    m.goals['hand_goal'].remove_child(m.links['hand'])
    assert names(helper) == before
    helper.update_structure()
    after = names(helper)
    assert set(after) < set(before)
    gone = ('j4', 'j5', 'j6', 'hand')
    assert [name for name in after if any(part in name for part in gone)] == []
    assert helper.joint_names == ['j1', 'j2', 'j3']
    m.links['j3_link'].add_child(m.joints['j4'])
    helper.update_structure()
    assert set(names(helper)) == {name for name in before if not name.startswith('goals')}


def test_new_joints_and_moved_frames_appear_after_update_structure():
    """Poses of links and joints in their parents count from update_structure on."""
    m = arm6()
    helper = IKRootsHelper(m.roots)
    m.tip('camera', 'j6_link', (0.1, 0.2, 0.3))
    m.joints['j1'].set_position(0, 0, 1.4)
    assert 'frames/camera' not in names(helper)
    helper.update_structure()
    camera = {shape.name: shape for shape in helper.shapes()}['frames/camera']
    expected = m.naive().world(m.links['camera'])[:3, 3]
    np.testing.assert_allclose(camera.position, expected, atol=1e-12)


def test_a_graph_that_cannot_be_read_changes_nothing():
    """After a refused structure the one before is still drawn."""
    m = arm6()
    helper = IKRootsHelper(m.roots)
    before = names(helper)
    stranger = Joint('stranger')
    stranger.set_dof('EZ')
    m.joints['j6'].couple('EZ', stranger, 'EZ', (0, 1))
    with pytest.raises(TopologyError, match='stranger'):
        helper.update_structure()
    assert names(helper) == before


def test_layers_drawn_one_by_one_equal_all_shapes():
    """Together they are all shapes, of one configuration, however long it takes to ask."""
    m = MECHANISMS['hexapod']()
    helper = IKRootsHelper(m.roots, layers='axes closures goals')
    before = helper.shapes()
    layers = helper.layer_shapes()
    found = [next(layers)]
    m.joints['p0'].set_dof_value('Z', 0.05)
    found += layers
    assert [layer for layer, _ in found] == ['axes', 'closures', 'goals']
    assert [shape for _, shapes in found for shape in shapes] == list(before)
    assert helper.shapes() != before


def test_dispose_can_be_repeated_and_undone():
    """Once, twice, and with everything after it; the structure can be read again."""
    m = arm6()
    helper = IKRootsHelper(m.roots)
    before = names(helper)
    for _ in range(2):
        helper.dispose()
        assert helper.shapes() == ()
        assert (helper.roots, helper.joint_names) == ([], [])
    helper.set_joint_scale(None)
    helper.set_color(0x102030)
    assert helper.shapes() == ()
    helper.update_structure()
    assert names(helper) == before
