"""The whole of a scene: names, sources, looks, and what becomes of it as the graph changes."""

import dataclasses

from ik_node import Joint, Link, load_robot, Solver
from ik_node.description.files import description_path
from ik_node.description.mesh_path import Visual
from ik_node.errors import OptionError, ShapeError, TopologyError
from ik_node.scene import IKRootsHelper, LAYERS, Shape, Text, Triad
from ik_node.scene.look import COLOURS, PLAIN_LAYERS
import numpy as np
import pytest
from support.mechanisms import MECHANISMS
from support.open_mechanisms import arm6

DEFAULT = {'frames', 'links', 'axes', 'limits', 'closures', 'goals'}


def names(helper, **what):
    return [shape.name for shape in helper.shapes(**what)]


def close(one, other):
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


@pytest.mark.parametrize('name', ['ball', 'mixed', 'fourbar_pinned', 'hexapod', 'two_arms'])
def test_every_shape_is_drawn_once_under_a_constant_name(name):
    """A name keeps its kind and layer wherever the robot goes; a q is drawn as set joints are."""
    m = MECHANISMS[name]()
    for number, goal in enumerate(m.goals.values()):
        goal.set_position(0.1 * number, 0.2, 0.3)
    helper = IKRootsHelper(m.roots, layers=LAYERS)
    kinds = {}
    for seed in range(3):
        q = m.random_q(helper.joint_names, np.random.default_rng(seed))
        shapes, seen = helper.shapes(q), {}
        assert len({shape.name for shape in shapes}) == len(shapes)
        for shape in shapes:
            assert shape.name.startswith(f'{shape.layer}/')
            assert shape.layer in LAYERS
            kind = (type(shape), shape.layer, shape.of)
            assert kinds.setdefault(shape.name, kind) == kind
            looks = dataclasses.replace(shape, name='', of='')
            assert seen.setdefault(looks, shape.name) == shape.name
    assert names(IKRootsHelper(m.roots, layers=LAYERS)) == names(helper)
    twice = IKRootsHelper([*m.roots, *m.roots, *m.links.values()], layers=LAYERS)
    assert sorted(names(twice)) == sorted(names(helper))
    for value, number in zip(helper.joint_names, q, strict=True):
        joint, _, dof = value.partition('.')
        m.joints[joint].set_dof_value(dof or m.joints[joint].dof[0], number)
    assert close(shapes, helper.shapes())


def test_frames_of_same_name_get_different_shape_names():
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
    with pytest.raises(TopologyError, match='is not a frame'):
        IKRootsHelper(['base'])
    helper = IKRootsHelper(arm6().roots)
    with pytest.raises(ShapeError, match=r'q: expected shape \(6,\), got shape \(5,\)'):
        helper.shapes(np.zeros(5))
    with pytest.raises(ShapeError, match='NaN or infinity for j2, j6'):
        helper.shapes([0, np.nan, 0, 0, 0, np.inf])


def test_removed_joints_disappear_after_update_structure():
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


def test_a_graph_that_cannot_be_read_changes_nothing():
    m = arm6()
    helper = IKRootsHelper(m.roots)
    before = names(helper)
    stranger = Joint('stranger')
    stranger.set_dof('EZ')
    m.joints['j6'].couple('EZ', stranger, 'EZ', (0, 1))
    with pytest.raises(TopologyError, match='stranger'):
        helper.update_structure()
    assert names(helper) == before


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


def test_layers_are_chosen():
    """Each layer alone, all, none; by default all but labels and visuals, which are given."""
    m = MECHANISMS['hexapod']()
    ball = Visual(m.roots[0].name, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), 'sphere', (1.0,))
    helper = IKRootsHelper(m.roots, seen=lambda: [ball])
    assert {shape.layer for shape in helper.shapes()} == DEFAULT
    for layer in {*LAYERS} - {'collisions'}:
        helper.set_layers(layer)
        assert helper.layers == {layer}
        assert {shape.layer for shape in helper.shapes()} == {layer}
    helper.set_layers('axes, goals')
    assert {shape.layer for shape in helper.shapes()} == {'axes', 'goals'}
    helper.set_layers(())
    assert helper.shapes() == ()
    helper.set_layers()
    assert helper.layers == DEFAULT
    with pytest.raises(OptionError, match=r"layers: 'axes meshes'.*some of frames links axes"):
        helper.set_layers('axes meshes')


@pytest.mark.parametrize(
    ('color', 'rgb'),
    [
        ('#ff8000', (1.0, 128 / 255, 0.0)),
        (0xFF8000, (1.0, 128 / 255, 0.0)),
        (0, (0.0, 0.0, 0.0)),
        ((0.1, 0.2, 0.3), (0.1, 0.2, 0.3)),
        (np.array((0.1, 0.2, 0.3)), (0.1, 0.2, 0.3)),
    ],
)
def test_colour_is_set(color, rgb):
    """One colour for all that says nothing by its colour; each layer keeps its opacity."""
    m = MECHANISMS['hexapod']()
    plain = IKRootsHelper(m.roots, layers=LAYERS).shapes()
    shapes = IKRootsHelper(m.roots, layers=LAYERS, color=color).shapes()
    for before, shape in zip(plain, shapes, strict=True):
        if shape.layer not in PLAIN_LAYERS or isinstance(shape, Triad):
            assert shape == before
        else:
            assert shape.rgba == (*rgb, before.rgba[3])


def test_colour_with_opacity_is_set_for_layers():
    """A fourth number is the opacity; layers can be coloured one by one, and reset."""
    helper = IKRootsHelper(arm6().roots)
    helper.set_color((0.1, 0.2, 0.3, 0.4), 'links')
    helper.set_color('#00000080', 'axes goals')

    def rgba(layer):
        return next(shape.rgba for shape in helper.shapes() if shape.layer == layer)

    assert rgba('links') == (0.1, 0.2, 0.3, 0.4)
    assert rgba('axes') == rgba('goals') == (0.0, 0.0, 0.0, 128 / 255)
    assert rgba('limits') == COLOURS['limits']
    helper.set_color(None, 'axes')
    assert (rgba('axes'), rgba('links')) == (COLOURS['axes'], (0.1, 0.2, 0.3, 0.4))
    helper.set_color()
    assert rgba('links') == COLOURS['links']
    assert rgba('goals') == (0.0, 0.0, 0.0, 128 / 255)


def test_invalid_looks_are_refused_and_old_ones_kept():
    helper = IKRootsHelper(arm6().roots)
    before, scale = helper.shapes(), helper.joint_scale
    for change, allowed, wrong in [
        (helper.set_joint_scale, 'joint_scale: .*a length above 0', (0.0, -1.0, 'big', True)),
        (helper.set_joint_scale, 'joint_scale: .*a length above 0', (np.nan, np.inf)),
        (helper.set_draw_through, 'draw_through: .*an opacity 0 to 1', (-0.1, 1.1, np.nan, 'yes')),
        (helper.set_resolution, 'resolution: .*a whole number, 3 or more', (2, 3.5, True, np.nan)),
        (helper.set_resolution, 'resolution: .*a whole number, 3 or more', ('fine',)),
        (helper.set_color, 'color: .*rrggbb', ('red', '#12', 1 << 24, -1, True, 0.5, (1, 2, 3))),
        (helper.set_color, 'color: .*rrggbb', ((0, 0, -0.1), (0.1, 0.2), ('a', 'b', 'c'))),
        (lambda layer: helper.set_color('#000000', layer), 'layers: .*nothing', ('nothing',)),
    ]:
        for value in wrong:
            with pytest.raises(OptionError, match=allowed):
                change(value)
    assert (helper.shapes(), helper.joint_scale) == (before, scale)


def test_draw_through_and_resolution_are_set():
    """Every shape has the opacity of the second pass; round ones have as many sides as asked."""
    helper = IKRootsHelper(MECHANISMS['hexapod']().roots, layers=LAYERS, resolution=9)

    def used(field):
        return {getattr(shape, field) for shape in helper.shapes() if hasattr(shape, field)}

    assert used('draw_through') == {0.0}
    for given, opacity in ((True, 0.1), (0.4, 0.4), (False, 0.0), (1, 1.0)):
        helper.set_draw_through(given)
        assert used('draw_through') == {opacity}
    helper.set_draw_through()
    assert used('draw_through') == {0.1}
    assert used('segments') == {9}
    helper.set_resolution(np.int64(40))
    assert used('segments') == {40}


def test_labels_are_drawn():
    """Every joint value has its name above its joint, one over the other in one place."""
    m = MECHANISMS['ball']()
    helper = IKRootsHelper(m.roots, layers='labels', joint_scale=0.1)
    q = m.random_q(helper.joint_names, np.random.default_rng(24))
    shapes = helper.shapes(q)
    assert all(isinstance(shape, Text) and isinstance(shape, Shape) for shape in shapes)
    assert {shape.text for shape in shapes} == set(helper.joint_names)
    for shape in shapes:
        origin = m.naive(helper.joint_names, q).world(m.joints[shape.of.partition('.')[0]])[:3, 3]
        assert shape.position[:2] == pytest.approx(origin[:2], abs=1e-12)
        assert shape.position[2] > origin[2]
    heights = sorted(s.position[2] for s in shapes if s.of.startswith('wrist'))
    assert np.diff(heights) == pytest.approx([0.036, 0.036])
    assert shapes[0].height < 0.036
