"""Gallery robots with loops, as mechanisms with one goal each."""

from ik_node.description.files import description_path
from ik_node.robot import load_robot
from support.building import mechanism_of


def gallery_hexapod():
    """Return the hexapod with 42 single-DoF values and a goal for its platform."""
    robot = load_robot(description_path('hexapod.urdf'))
    robot.add_goal('platform_link', name='goal')
    return mechanism_of(robot)


def gallery_fivebar():
    robot = load_robot(description_path('fivebar.urdf'))
    robot.add_goal('tool_link', name='goal', dof='X Y')
    return mechanism_of(robot)


GALLERY = {f.__name__: f for f in (gallery_hexapod, gallery_fivebar)}
