"""What is about in URDFs beyond the plain arm."""

import ik_node as ik
from ik_node.errors import TopologyError
import numpy as np
import pytest
from support.robot_texts import joint, urdf


def test_limits_of_a_mimic_s_mimic_bind_the_master():
    """However far down the chain, no value leaves its own limits."""
    axis = '<axis xyz="0 0 1"/><limit lower="-1" upper="1"/>'
    text = urdf(
        'a b c d',
        joint('i', 'a', 'b', axis.replace('1"/>', '3"/>').replace('-1', '-3'), 'revolute'),
        joint('j', 'b', 'c', axis + '<mimic joint="i" multiplier="2"/>', 'revolute'),
        joint('k', 'c', 'd', axis + '<mimic joint="j" multiplier="2"/>', 'revolute'),
    )
    loaded = ik.load_robot(text)
    assert loaded.mobility == 1
    solution = ik.Solver(loaded).solve_pose({'b': ((0, 0, 0), (0, 0, np.sin(0.5), np.cos(0.5)))})
    values = dict(zip(loaded.joint_names, solution.q, strict=True))
    assert values['i'] == pytest.approx(0.25, abs=1e-6)
    assert values['k'] == pytest.approx(1.0, abs=1e-6)


NAMES = 'a b;é.X <;a.b;a/b;ä-関節;.;X;EZ;a.X;";#;root;__world_joint__:a'


@pytest.mark.parametrize('name', NAMES.split(';'))
def test_names_may_hold_any_character(name):
    """Joints and links may be called anything; values are found by their names."""
    quoted = name.replace('"', '&quot;').replace('<', '&lt;')
    text = urdf(['a', quoted], joint(quoted, 'a', quoted))
    loaded = ik.load_robot(text)
    assert loaded.joint_names == [name]
    pose = loaded.forward([0.5], name)
    assert pose[1, 0] == pytest.approx(np.sin(0.5))


def test_joint_named_like_a_value_is_refused():
    """Beside a floating joint a, a joint a.X cannot be told from a's first value."""
    text = urdf('a b c', joint('a', 'a', 'b', '', 'floating'), joint('a.X', 'b', 'c'))
    with pytest.raises(TopologyError, match=r"two joint values are named 'a\.X'"):
        ik.load_robot(text)
    other = text.replace('a.X', 'a.W')
    assert ik.load_robot(other).joint_names[-1] == 'a.W'


def test_default_namespace_is_ignored():
    """Drake's old files are in one."""
    text = urdf('a b', joint('j', 'a', 'b')).replace('<robot', '<robot xmlns="http://d"')
    assert ik.load_robot(text).joint_names == ['j']
