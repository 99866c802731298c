"""Angles that are written rounded."""

from fractions import Fraction

from ik_node.description.digits import fraction_of_pi
from ik_node.description.read import read_description
import numpy as np
import pytest

URDF = (
    '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
    '<parent link="a"/><child link="b"/><origin rpy="{}"/><axis xyz="0 0 1"/></joint></robot>'
)
SDF = '<sdf version="1.9"><model name="m"><link name="a"><pose{}>{}</pose></link></model></sdf>'
MJCF = (
    '<mujoco><compiler angle="{}"/><worldbody><body name="a" euler="{}">'
    '<joint name="j" type="hinge"/></body></worldbody></mujoco>'
)


ROUNDED = """1.5708=1/2 -1.57079633=-1/2 1.571=1/2 3.1416=1 3.142=1 0.7854=1/4 +.7854=1/4
    7.854e-1=1/4 1.047=1/3 2.0944=2/3 -6.2832=-2 0.2618=1/12 1.2566371=2/5 0.17453=1/18
    1.57080=1/2"""
# Too few digits, cut off instead of rounded, another number, or none at all.
OTHERS = """1.57 3.14 0.785 0.524 1.5707 3.1415 3.1420 1.5710 0.1745 0.0000 0 -0.0 1 0.5 1.2345
    1.57079 nan inf 1_5708 pi 1e300 3.1415926535 15708e-400"""


def test_correctly_rounded_fractions_of_pi_are_recognised():
    """Whatever the number of digits, from four significant ones on; others are left alone."""
    for text, _, parts in (each.partition('=') for each in ROUNDED.split()):
        assert fraction_of_pi(text) == Fraction(parts), text
    assert [text for text in OTHERS.split() if fraction_of_pi(text) is not None] == []


def turn(text, exact=True):
    """Return the orientation of the only joint or link that stands turned, and the notes."""
    found = read_description(text, exact_angles=exact)
    frames = [*found.joints.values(), *found.links.values()]
    return max(frames, key=lambda f: abs(f.quaternion[0])).quaternion, found.notes


HALF = [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]


@pytest.mark.parametrize(
    'text',
    [
        URDF.format('1.5708 0 0'),
        SDF.format('', '0.1 0 1.5708 1.5708 0 0'),
        MJCF.format('radian', '1.5708 0 0'),
    ],
)
def test_rounded_angles_of_poses_are_exact_and_noted(text):
    """In URDF, SDFormat and MJCF; lengths with the same digits are lengths."""
    quaternion, notes = turn(text)
    np.testing.assert_allclose(quaternion, HALF, atol=1e-15)
    noted = [note for note in notes if 'angle' in note]
    assert noted == ["1 rounded angle, read as fractions of pi: '1.5708 = pi/2'"]


def test_rounded_angles_are_kept_and_counted_by_default():
    """And counted, so that a robot whose loops need them exact can be read again."""
    for exact in (False, True):
        found = read_description(URDF.format('1.5708 0 3.142'), exact_angles=exact)
        assert found.rounded_angles == 2
        assert bool(found.notes) == exact
    np.testing.assert_allclose(
        turn(URDF.format('1.5708 0 0'), exact=False)[0][0], np.sin(0.7854), atol=1e-15
    )


def test_rounded_angles_of_closures_are_read_exactly():
    """YAML counts by its shortest digits."""
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    frames = {'frame_a': {'link': 'a', 'rpy': [1.5708, 0, 0]}, 'frame_b': 'b'}
    found = read_description(urdf, closures={'closures': [{'name': 'c', **frames}]})
    np.testing.assert_allclose(found.closures['c'].offset_quaternion, HALF, atol=1e-15)
