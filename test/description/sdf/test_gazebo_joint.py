"""<gazebo><joint>: a joint of SDF, added in the pose in which all joints are zero."""

import ik_node as ik
import numpy as np
import pytest
from support.robot_texts import joint, urdf

ABOUT_Z = '<axis><xyz>0 0 1</xyz></axis>'


def robot(inside, extra=''):
    """Return a row of links a b c, hinged about z and turned by a right angle at b."""
    joints = (
        joint(
            f'j{child}', parent, child, f'<origin xyz="1 0 0" rpy="0 0 {yaw}"/><axis xyz="0 0 1"/>'
        )
        for child, parent, yaw in (('b', 'a', np.pi / 2), ('c', 'b', 0.0))
    )
    return urdf('a b c', *joints, f'{extra}<gazebo>{inside}</gazebo>')


def closing(type_name='revolute', inside=ABOUT_Z, parent='a', child='c'):
    """Return an SDF joint g."""
    ends = f'<parent>{parent}</parent><child>{child}</child>'
    return f'<joint name="g" type="{type_name}">{ends}{inside}</joint>'


def test_root_on_a_hinge_to_the_world_moves():
    """The world is the root then."""
    loaded = ik.load_robot(robot(closing(parent='world', child='a')))
    assert loaded.joint_names == ['jb', 'jc', 'g']
    assert [root.name for root in loaded.description.roots] == ['world']
    loaded.q = [0, 0, 0.5]
    assert loaded.forward(loaded.q, 'a')[0, 0] == pytest.approx(np.cos(0.5))
