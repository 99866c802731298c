"""Our own robots with loops, as mechanisms with a goal each."""

from ik_node.gallery.description_path import description_path
from ik_node.robot import load_robot
from support.building import mechanism_of


def gallery_hexapod():
    """Return our own hexapod: 42 values with one DoF a joint, asked for its platform."""
    robot = load_robot(description_path('hexapod.urdf'))
    robot.add_goal('platform_link', name='goal')
    return mechanism_of(robot)


def gallery_fivebar():
    """Return our own five-bar, asked for x and y of its tool."""
    robot = load_robot(description_path('fivebar.urdf'))
    robot.add_goal('tool_link', name='goal', dof='X Y')
    return mechanism_of(robot)


GALLERY = {f.__name__: f for f in (gallery_hexapod, gallery_fivebar)}
