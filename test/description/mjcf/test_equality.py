"""Loops and couplings that an MJCF's equalities make."""

from ik_node.description.description import apply_loops
from ik_node.description.mjcf.reader import read_mjcf
from ik_node.description.read import read_description
from ik_node.description.xml_document import parse_xml
import numpy as np
import pytest

BARS = """<mujoco model="m"><compiler angle="radian"/><worldbody>
<body name="a" pos="1 0 0"><joint name="j" range="-9 9"/><body name="b" pos="0 1 0">
<joint name="k" ref="0.5"/><site name="s" pos="0 0.5 0"/></body></body>
<body name="c" pos="0 0 1"><joint name="l"/><site name="t" pos="1 0 0" quat="1 0 0 1"/></body>
<body name="hand" mocap="true"/>
</worldbody><equality>EQUALITY</equality></mujoco>"""


def read(equality):
    """Return the description with an equality, read without MuJoCo."""
    text = BARS.replace('EQUALITY', equality)
    description = read_mjcf(parse_xml(text, '<text>'))
    for loops in description.loops:
        apply_loops(loops, description)
    return description


def follower(description, name):
    """Return master and coefficients of a joint that follows."""
    (coupling,) = description.joints[name].couplings.values()
    return coupling.master.name, coupling.coefficients


def test_connect_holds_as_the_model_is_written():
    """The point of body 2 is the one that is there when the joints are at their refs."""
    (closure,) = read('<connect body1="b" body2="c" anchor="1 2 3"/>').closures.values()
    assert closure.name == 'b_c_connect'
    np.testing.assert_array_equal(closure.offset_position, (1, 2, 3))
    np.testing.assert_allclose(closure.position, (2, 3, 2))
    assert closure.dof == [0, 1, 2]
    np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-15)


def test_connect_without_body2_is_to_the_world():
    """Without body2 it is the world."""
    (closure,) = read('<connect name="n" body1="b" anchor="0 0 0"/>').closures.values()
    assert closure.name == 'n'
    assert closure.parent.name == 'world'
    np.testing.assert_allclose(closure.position, (1, 1, 0), atol=1e-15)


def test_sites_of_equality_need_not_coincide():
    """They need not coincide as written: that the solver has to make so."""
    (closure,) = read('<connect site1="s" site2="t"/>').closures.values()
    assert closure.name == 's_t_connect'
    assert np.linalg.norm(closure.get_residual()) == pytest.approx(np.hypot(1.5, 1))
    (closure,) = read('<weld site1="s" site2="t"/>').closures.values()
    assert len(closure.get_residual()) == 6
    assert abs(closure.get_residual()[5]) == pytest.approx(np.pi / 2)


def test_weld_constrains_six_axes():
    """As written, or as relpose says; without torque a point."""
    (closure,) = read('<weld body1="b" body2="c" anchor="0 0 1"/>').closures.values()
    np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-15)
    assert len(closure.dof) == 6
    (closure,) = read('<weld body1="b" body2="c" relpose="1 0 0 1 0 0 0"/>').closures.values()
    np.testing.assert_allclose(closure.get_residual(), (2, 1, -1, 0, 0, 0), atol=1e-15)
    (closure,) = read('<weld body1="b" body2="c" torquescale="0"/>').closures.values()
    assert len(closure.dof) == 3


def test_equality_of_default_class_can_be_inactive():
    """<equality> in a class has `active`."""
    text = BARS.replace('EQUALITY', '<connect class="off" body1="b" anchor="0 0 0"/>').replace(
        '<worldbody>',
        '<default><default class="off"><equality active="false"/></default></default><worldbody>',
    )
    (closure,) = read_description(text).closures.values()
    assert not closure.enabled


def test_joints_that_follow():
    """Values count from the refs: q_j = 0.1 + 2 (q_k - 0.5) + 3 (q_k - 0.5)^2."""
    description = read('<joint joint1="j" joint2="k" polycoef="0.1 2 3 0 0"/>')
    master, coefficients = follower(description, 'j')
    assert master == 'k'
    np.testing.assert_allclose(coefficients, (-0.15, -1.0, 3.0))
    assert follower(read('<joint joint1="k" joint2="l"/>'), 'k') == ('l', (0.5, 1.0))
    master, coefficients = follower(read('<joint joint1="j" joint2="l" polycoef="1 2"/>'), 'j')
    np.testing.assert_allclose(coefficients, (1.0, 2.0))


def test_a_joint_that_is_held():
    """Without joint2 it stays where it is."""
    description = read('<joint joint1="k" polycoef="0.25"/>')
    joint = description.joints['k']
    assert joint.min_dof_limit[5] == joint.max_dof_limit[5] == joint.dof_values[5] == 0.75
    assert description.notes[-1] == "joint 'k' is held at 0.75 by an equality"


def test_second_rule_for_a_joint_is_not_used():
    """A line is read from its other end; what says nothing new is left out."""
    description = read(
        '<joint joint1="j" joint2="l"/><joint joint1="j" joint2="k" polycoef="1 2"/>'
        '<joint joint1="k" joint2="l"/><joint joint1="l" joint2="j"/>'
    )
    assert follower(description, 'j') == ('l', (0.0, 1.0))
    master, coefficients = follower(description, 'k')  # q_j = 1 + 2 (q_k - 0.5)
    assert master == 'j'
    np.testing.assert_allclose(coefficients, (0.0, 0.5))
    assert len([note for note in description.notes if 'is not used' in note]) == 2
    assert not description.joints['l'].couplings
