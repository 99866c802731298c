"""What links look like."""

from ik_node.description.visuals import read_visuals
from ik_node.errors import DescriptionError
from ik_node.robot import from_dh
import pytest


def test_other_roots_have_none():
    """What is no description draws nothing; nor does a broken one; what is no XML is refused."""
    assert read_visuals('<world/>') == []
    assert read_visuals('<sdf/>') == []
    assert read_visuals('<mujoco><worldbody><joint/></worldbody></mujoco>') == []
    with pytest.raises(DescriptionError, match='XML'):
        read_visuals('<robot>')


def test_robot_without_description_has_no_visuals():
    """A Denavit-Hartenberg table is none: the page draws its links as rods."""
    arm = from_dh([(0.4, 0, 90, 0), (0, 0.5, 0, 30)], degrees=True)
    assert read_visuals(arm.description.text, arm.description.source) == []
