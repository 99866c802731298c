"""What the bodies of an MJCF look like."""

from ik_node.description.visuals import read_visuals
import pytest

FRAME = """
<mujoco>
  <compiler meshdir="assets" angle="radian" {compiler}/>
  <default>
    <default class="small"><mesh scale="0.001 0.001 0.001"/></default>
    <default class="red"><geom rgba="1 0 0 1" type="box" size="1 2 3"/></default>
    <default class="hidden"><geom group="3"/></default>
    <default class="shiny"><material rgba="0 0 1 1"/></default>
  </default>
  <asset>
    <material name="blue" class="shiny"/><material name="plain"/>
    <mesh name="arm" file="parts/upper.stl" class="small"/>
    <mesh file="lower.obj" refpos="1 0 0" refquat="0 0 0 1"/>
    <mesh name="points" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
  </asset>
  <worldbody><body name="a">{geom}</body></worldbody>
</mujoco>
"""


def visuals(geom, compiler=''):
    """Return the visuals of a body."""
    return read_visuals(FRAME.format(geom=geom, compiler=compiler))


def test_every_shape_is_read():
    """Its size, where MJCF has halves, and its place."""
    for attributes, kind, size in [
        ('size="0.1"', 'sphere', (0.1,)),
        ('type="box" size="1 2 3"', 'box', (2.0, 4.0, 6.0)),
        ('type="cylinder" size="1 2"', 'cylinder', (1.0, 4.0)),
        ('type="capsule" size="1 2"', 'capsule', (1.0, 4.0)),
        ('type="ellipsoid" size="1 2 3"', 'ellipsoid', (1.0, 2.0, 3.0)),
        ('type="plane" size="1 2 0.1"', 'plane', (2.0, 4.0)),
        ('class="red"', 'box', (2.0, 4.0, 6.0)),
    ]:
        (found,) = visuals(f'<frame pos="0 0 1"><geom pos="0 2 0" {attributes}/></frame>')
        assert (found.link, found.kind, found.size) == ('a', kind, size)
        assert found.position == (0.0, 2.0, 1.0)


@pytest.mark.parametrize(
    ('shape', 'size'),
    [('capsule', (0.1, 2.0)), ('cylinder', (0.1, 2.0)), ('box', (0.2, 0.2, 2.0))],
)
def test_two_points_define_a_geom(shape, size):
    """They say where it is, how it lies, and how long it is."""
    (found,) = visuals(f'<geom type="{shape}" fromto="1 1 0 3 1 0" size="0.1"/>')
    assert found.size == pytest.approx(size)
    assert found.position == (2.0, 1.0, 0.0)
    x, y, z, w = found.quat_xyzw
    along = (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y))
    assert tuple(map(abs, along)) == pytest.approx((1.0, 0.0, 0.0), abs=1e-12)


def test_meshes_are_read():
    """Their folder, their class's scale, and where their own frame is."""
    wanted = ('mesh', 'assets/parts/upper.stl', (1e-3,) * 3)
    first, second = visuals('<geom type="mesh" mesh="arm"/><geom mesh="lower" type="mesh"/>')
    assert (first.kind, first.file, first.size) == wanted
    assert (second.file, second.size) == ('assets/lower.obj', (1.0, 1.0, 1.0))
    assert second.position == pytest.approx((1.0, 0.0, 0.0))
    assert second.quat_xyzw == pytest.approx((0.0, 0.0, -1.0, 0.0))
    (stripped,) = visuals('<geom type="mesh" mesh="arm"/>', 'strippath="true"')
    assert stripped.file == 'assets/upper.stl'


def test_colour_comes_from_geom_or_material():
    """A geom's own, else its class's, else its material's."""
    for attributes, rgba in [
        ('size="1"', None),
        ('size="1" rgba="0 1 0 0.5"', (0.0, 1.0, 0.0, 0.5)),
        ('class="red"', (1.0, 0.0, 0.0, 1.0)),
        ('size="1" material="blue"', (0.0, 0.0, 1.0, 1.0)),
        ('size="1" material="plain"', (1.0, 1.0, 1.0, 1.0)),
        ('class="red" material="blue"', (1.0, 0.0, 0.0, 1.0)),
    ]:
        assert visuals(f'<geom {attributes}/>')[0].rgba == rgba


@pytest.mark.parametrize(
    'attributes',
    [
        'size="1" group="3"',
        'size="1" class="hidden"',
        'size="1" rgba="1 0 0 0"',
        'type="plane" size="0 0 1"',
    ],
)
def test_invisible_geoms_are_left_out(attributes):
    """Shapes for contact, what is clear as air, and ground without end are left out."""
    assert visuals(f'<geom {attributes}/>') == []


def test_unreadable_geom_is_a_visual_of_kind_unread():
    """It stands for itself, the others are there, and nothing is raised."""
    for attributes, what in [
        ('type="hfield" hfield="h"', 'hfield of a'),
        ('type="box" size="1"', 'no size'),
        ('type="mesh" mesh="points"', 'no file'),
        ('type="mesh" mesh="gone"', 'no file'),
        ('size="x"', 'not a number'),
        ('type="capsule" fromto="0 0 0 0 0 0" size="1"', 'two points are equal'),
    ]:
        unread, ball = visuals(f'<geom {attributes}/><geom size="1"/>')
        assert (unread.link, unread.kind, ball.kind) == ('a', 'unread', 'sphere')
        assert what in unread.file


def test_visuals_of_attached_models_are_marked_unread(tmp_path):
    """Their bodies are named; how they look is not read."""
    (tmp_path / 'hand.xml').write_text(
        '<mujoco model="hand"><worldbody><body name="h"><geom size="1"/></body></worldbody>'
        '</mujoco>'
    )
    text = """<mujoco><asset><model name="hand" file="hand.xml"/></asset><worldbody>
      <body name="a"><geom size="1"/><attach model="hand" body="h" prefix="l_"/></body>
      </worldbody></mujoco>"""
    found = read_visuals(text, str(tmp_path / 'robot.xml'))
    assert [(each.link, each.kind) for each in found] == [('a', 'sphere'), ('l_h', 'unread')]
