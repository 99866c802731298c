"""How a scene looks: layers, scale, colours, opacity, resolution, labels."""

from ik_node import DOF, Joint, load_robot
from ik_node.description.files import description_path
from ik_node.description.mesh_path import Visual
from ik_node.errors import OptionError
from ik_node.scene import IKRootsHelper, LAYERS, Shape, Text, Triad
from ik_node.scene.look import COLOURS, PLAIN_LAYERS
import numpy as np
import pytest
from support.mechanisms import MECHANISMS
from support.open_mechanisms import arm6, snake

SIZES = ('radius', 'inner_radius', 'length', 'width', 'height')


def test_layers_are_chosen():
    """Each layer alone, all, none; by default all but labels and visuals, which are given."""
    m = MECHANISMS['hexapod']()
    ball = Visual(m.roots[0].name, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), 'sphere', (1.0,))
    helper = IKRootsHelper(m.roots, seen=lambda: [ball])
    assert {shape.layer for shape in helper.shapes()} == set(LAYERS) - {'labels', 'visuals'}
    for layer in LAYERS:
        helper.set_layers(layer)
        assert helper.layers == {layer}
        assert {shape.layer for shape in helper.shapes()} == {layer}
    helper.set_layers('axes, goals')
    assert {shape.layer for shape in helper.shapes()} == {'axes', 'goals'}
    helper.set_layers(())
    assert helper.shapes() == ()
    helper.set_layers()
    assert helper.layers == set(LAYERS) - {'labels', 'visuals'}
    with pytest.raises(OptionError, match=r"layers: 'axes meshes'.*some of frames links axes"):
        helper.set_layers('axes meshes')


def test_only_shapes_without_own_length_grow_with_scale():
    """All that has no length of its own grows with the scale, and nothing else does."""
    m = MECHANISMS['walker']()
    m.joints['l2'].set_dof_values(0.3)
    small, large = (
        IKRootsHelper(m.roots, layers=LAYERS, joint_scale=scale) for scale in (0.02, 0.06)
    )
    assert (small.joint_scale, large.joint_scale) == (0.02, 0.06)
    kept = 0
    for one, other in zip(small.shapes(), large.shapes(), strict=True):
        assert one.name == other.name
        for size in SIZES:
            if getattr(one, size, 0.0):
                ratio = getattr(other, size) / getattr(one, size)
                if size == 'length' and one.name.startswith('axes/float.'):
                    continue  # a line without end: partly the one, partly the other
                real = one.layer == 'links' or one.name.endswith(('/way', '/line'))
                real = real and size == 'length'
                assert ratio == pytest.approx(1.0 if real else 3.0)
                kept += real
    assert kept > 5
    for wrong in (0.0, -1.0, np.nan, np.inf, 'big', True):
        with pytest.raises(OptionError, match=r'joint_scale: .*a length above 0'):
            small.set_joint_scale(wrong)
    assert small.joint_scale == 0.02


@pytest.mark.parametrize('factor', [1e-3, 1.0, 1e3])
def test_default_scale_grows_with_robot_size(factor):
    """A robot a thousand times larger has axes a thousand times longer, in any configuration."""
    m = MECHANISMS['free_body']()
    before = IKRootsHelper(m.roots).joint_scale
    for frame in [*m.links.values(), *m.joints.values()]:
        frame.set_position(*(factor * frame.position))
    m.joints['float'].set_dof_value('X', 500.0)
    helper = IKRootsHelper(m.roots)
    assert helper.joint_scale == pytest.approx(factor * before)
    helper.set_joint_scale(7.0)
    helper.update_structure()
    assert helper.joint_scale == 7.0
    helper.set_joint_scale()
    assert helper.joint_scale == pytest.approx(factor * before)


def test_default_scale_is_smaller_than_links():
    """An axis is shorter than a link and than a tenth of the robot; alone it has some length."""
    assert IKRootsHelper(snake(30).roots).joint_scale < 0.2
    assert 0.03 < IKRootsHelper(arm6().roots).joint_scale < 0.15
    robot = load_robot(description_path('hexapod.urdf'))
    assert 0.005 < IKRootsHelper(robot).joint_scale < 0.03
    joint = Joint('alone')
    joint.set_dof(DOF.EZ)
    assert IKRootsHelper(joint).joint_scale == 0.1


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


@pytest.mark.parametrize(
    'color',
    ['red', '#12', 1 << 24, -1, True, (1, 2, 3), (0, 0, -0.1), (0.1, 0.2), ('a', 'b', 'c'), 0.5],
)
def test_invalid_color_is_refused_and_old_one_kept(color):
    """It is refused, and what was stays."""
    helper = IKRootsHelper(arm6().roots)
    before = helper.shapes()
    with pytest.raises(OptionError, match=r'color: .*rrggbb'):
        helper.set_color(color)
    with pytest.raises(OptionError, match=r'layers: .*nothing'):
        helper.set_color('#000000', 'nothing')
    assert helper.shapes() == before


def test_draw_through_is_checked():
    """The opacity of the second pass is on every shape: 0, a tenth, or what was asked for."""
    helper = IKRootsHelper(MECHANISMS['hexapod']().roots, layers=LAYERS)

    def opacities():
        return {shape.draw_through for shape in helper.shapes()}

    assert opacities() == {0.0}
    for given, opacity in ((True, 0.1), (0.4, 0.4), (False, 0.0), (1, 1.0)):
        helper.set_draw_through(given)
        assert opacities() == {opacity}
    helper.set_draw_through()
    assert opacities() == {0.1}
    for wrong in (-0.1, 1.1, np.nan, 'yes'):
        with pytest.raises(OptionError, match=r'draw_through: .*an opacity 0 to 1'):
            helper.set_draw_through(wrong)


def test_resolution_is_checked():
    """Round shapes have as many sides as was asked for."""
    helper = IKRootsHelper(MECHANISMS['ball']().roots, resolution=9)
    sides = [shape.segments for shape in helper.shapes() if hasattr(shape, 'segments')]
    assert len(sides) > 10
    assert set(sides) == {9}
    helper.set_resolution(np.int64(40))
    assert {s.segments for s in helper.shapes() if hasattr(s, 'segments')} == {40}
    for wrong in (2, 3.5, True, 'fine', np.nan):
        with pytest.raises(OptionError, match=r'resolution: .*a whole number, 3 or more'):
            helper.set_resolution(wrong)


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
