"""What the bodies of an MJCF look like."""

from ik_node.description.visuals import read_visuals

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
