"""Where links, joints and frames of an SDFormat file stand, and how joints move them."""

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
import pytest
from support.robot_texts import sdf


def test_long_chains_are_read():
    """Frames on frames, a thousand deep, and a circle of them: no recursion, short messages."""
    chain = ''.join(
        f'<link name="l{i}"><pose relative_to="l{i - 1}">0 0 1 0 0 0</pose></link>'
        f'<frame name="f{i}" attached_to="f{i - 1}"/>'
        for i in range(1, 2000)
    )
    start = '<link name="l0"/><frame name="f0" attached_to="l0"/>'
    description = read_description(sdf(start + chain))
    assert description.links['l1999'].matrix_world[2, 3] == pytest.approx(1999.0)
    ring = '><pose relative_to="l1999"/></link>'
    with pytest.raises(DescriptionError, match=r"posed relative to '\.\.\.' is posed") as error:
        read_description(sdf(start.replace('/>', ring, 1) + chain))
    assert len(str(error.value)) < 400
