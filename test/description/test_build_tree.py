"""Joints that are too many for a tree become loops, in a way that loses nothing."""

import ik_node as ik
from ik_node.description.joint_spec import JointSpec
from ik_node.description.read import read_description
from ik_node.description.tree import hang_joints
import numpy as np
import pytest
from support.robot_texts import AXIS, joint, urdf


def robot(*ends):
    """Return a URDF with joints j0, j1, ... 1 m along x, with the given (parent, child) links."""
    there = '<origin xyz="1 0 0"/>' + AXIS
    joints = (joint(f'j{i}', *pair, there) for i, pair in enumerate(ends))
    return urdf(sorted({name for pair in ends for name in pair}), *joints)


def test_the_joint_declared_first_keeps_a_link():
    """A link with two parents hangs under the first; the second joint is a closure of its type."""
    description = read_description(robot('ac', 'ab', 'bc'))
    assert description.links['c'].parent is description.joints['j0']
    assert list(description.joints) == ['j0', 'j1']
    closure = description.closures['j2']
    assert [dof.name for dof in closure.dof] == ['X', 'Y', 'Z', 'EX', 'EY']
    assert closure.parent is description.links['b']
    assert closure.child is description.links['c']
    np.testing.assert_allclose(closure.get_residual(), [-1.0, 0.0, 0.0, 0.0, 0.0], atol=1e-12)
    assert description.dialect == 'URDF + cycle of joints'
    assert "joint 'j2' closes a loop: 'c' is already in the tree" in description.notes[0]


@pytest.mark.parametrize(
    ('kind', 'inner'),
    [('revolute', '<limit lower="-1" upper="1"/>'), ('continuous', '<mimic joint="j0"/>')],
)
def test_joint_with_limits_or_mimic_stays_in_the_tree(kind, inner):
    """With limits or a mimic the joint stays, and an end of its own is welded to the link."""
    text = robot('ac', 'ab', 'bc').replace('</joint></robot>', inner + '</joint></robot>')
    head, tail = text.rsplit('type="continuous"', 1)
    description = read_description(f'{head}type="{kind}"{tail}')
    assert list(description.joints) == ['j0', 'j1', 'j2']
    assert description.links['c__j2'].parent is description.joints['j2']
    closure = description.closures['j2']
    assert len(closure.dof) == 6
    assert {closure.parent.name, closure.child.name} == {'c', 'c__j2'}


def test_a_four_bar_written_as_a_cycle_moves():
    """The closing phase closes it, it has one degree of freedom, its truth is a parallelogram."""
    text = robot('ab', 'bc', 'ad', 'dc')
    text = text.replace('<child link="d"/><origin xyz="1 0 0"/>', '<child link="d"/>')
    loaded = ik.load_robot(text)
    assert loaded.assembly.status.name == 'CONVERGED'
    assert loaded.mobility == 1
    assert [len(each.dof) for each in loaded.closures.values()] == [5]


def test_undirected_joints_are_reversed():
    """Where only that connects, a joint hangs the other way round and means the same."""
    turned = read_description(robot('ab', 'cb'))
    spec = JointSpec('j', 'revolute', 'c', 'world', np.array((0.1, 0.2, 0.3)))
    spec.axis = np.array((0.0, 0.6, 0.8))
    spec.child_position = np.array((0.5, 0.0, -0.1))
    spec.limits.lower, spec.limits.upper = -1.0, 2.0
    for undirected, root in ((True, 'world'), (False, 'c')):
        description = read_description(
            '<robot name="r"><link name="c"/><link name="world"/></robot>'
        )
        assert not hang_joints(description, [spec], undirected=undirected).loops
        assert [each.name for each in description.roots] == [root]
        joint = description.joints['j']
        joint.set_dof_values(0.7)
        links = description.links
        inverse = np.linalg.inv(links['c'].matrix_world)
        if undirected:
            first = inverse @ links['world'].matrix_world
    np.testing.assert_allclose(first, inverse @ links['world'].matrix_world, atol=1e-12)
    assert len(turned.roots) == 2
