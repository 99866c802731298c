"""<gazebo><joint>: a joint of SDF, added in the pose in which all joints are zero."""

import ik_node as ik
import numpy as np
import pytest
from support.robot_texts import joint, urdf


def test_root_on_a_hinge_to_the_world_moves():
    """The world is the root then."""
    hinge = joint('jb', 'a', 'b', '<origin xyz="1 0 0"/><axis xyz="0 0 1"/>')
    added = '<parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz></axis>'
    added = f'<gazebo><joint name="g" type="revolute">{added}</joint></gazebo>'
    loaded = ik.load_robot(urdf('a b', hinge, added))
    assert loaded.joint_names == ['jb', 'g']
    assert [root.name for root in loaded.description.roots] == ['world']
    loaded.q = [0, 0.5]
    assert loaded.forward(loaded.q, 'a')[0, 0] == pytest.approx(np.cos(0.5))
