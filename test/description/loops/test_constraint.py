"""The <constraint> proposed for urdfdom."""

from ik_node.description.read import read_description
from ik_node.model.rotation import quat_to_matrix
import numpy as np
import pytest

ENDS = (
    '<parent link="a"/><parent_origin xyz="1 0 0"/><child link="b"/>'
    '<child_origin xyz="0 1 0" rpy="0 0 0"/>'
)


def read(attributes, inside=ENDS):
    """Return a description of two links and one constraint, on line 2."""
    return read_description(
        '<robot name="r"><link name="a"/><link name="b"/>\n'
        f'<constraint {attributes}>{inside}</constraint></robot>'
    )


@pytest.mark.parametrize(
    ('type_name', 'kind', 'rows'),
    [
        ('revolute', 'frame', 5),
        ('Prismatic', 'frame', 5),
        ('SPHERICAL', 'frame', 3),
        ('link', 'frame', 6),
        ('fixed', 'frame', 6),
        ('universal', 'universal', 3),
    ],
)
def test_every_constraint_type_is_read(type_name, kind, rows):
    """In any case; the parent carries the closure, the child closes on it."""
    axes = '<parent_axis xyz="0 0 1"/><child_axis xyz="1 0 0"/>'
    description = read(f'name="c" type="{type_name}"', ENDS + axes)
    found = description.closures['c']
    assert (found.kind, len(found.dof)) == (kind, rows)
    assert (found.parent.name, found.child.name) == ('a', 'b')
    assert found.position.tolist() == [1, 0, 0]
    assert found.offset_position.tolist() == [0, 1, 0]
    assert description.dialect == 'URDF + constraint'


def test_axes_are_read_in_both_frames():
    """Each counts in its own frame; the child's is the parent's if it is not written."""
    parent = '<parent_axis xyz="0 2 0"/>'
    both = parent + '<child_axis xyz="1 0 0"/>'
    # A universal joint has the parent's axis as frame_b's x, the child's as frame_a's y.
    for kind, axes, child, columns in [
        ('revolute', both, (1, 0, 0), (2, 2)),
        ('revolute', parent, (0, 1, 0), (2, 2)),
        ('universal', both, (1, 0, 0), (0, 1)),
    ]:
        found = read(f'name="c" type="{kind}"', ENDS + axes).closures['c']
        ends = (found.quaternion, found.offset_quaternion)
        for quat, column, axis in zip(ends, columns, ((0, 1, 0), child), strict=True):
            np.testing.assert_allclose(quat_to_matrix(quat)[:, column], axis, atol=1e-15)


def test_new_names_of_two_dialects():
    """What URDF+ exports has the same tag; no name comes twice."""
    plus = '<constraint type="fixed"><predecessor link="a"/><successor link="b"/></constraint>'
    description = read_description(
        '<robot name="r"><link name="a"/><link name="b"/>'
        f'<constraint type="link">{ENDS}</constraint>{plus}</robot>'
    )
    assert list(description.closures) == ['constraint_1', 'constraint_2']
    assert description.dialect == 'URDF + URDF+ + constraint'
