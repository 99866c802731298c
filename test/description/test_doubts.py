"""Notes on robots that can be read, but are probably not what their authors meant."""

from xml.etree.ElementTree import fromstring

from ik_node.description.digits import read_digits
from ik_node.description.read import read_description
import numpy as np
import pytest


def arm(limit='lower="-1" upper="1"', xyz='0 0 0.4', tip='tip', kind='revolute'):
    """Return a robot of two joints in series."""
    return f"""<robot name="arm"><link name="base"/><link name="upper"/><link name="{tip}"/>
      <joint name="turn" type="{kind}"><parent link="base"/><child link="upper"/>
        <origin xyz="{xyz}"/><axis xyz="0 0 1"/><limit {limit} effort="1" velocity="1"/></joint>
      <joint name="end" type="fixed"><parent link="upper"/><child link="{tip}"/></joint></robot>"""


def test_poses_in_degrees_are_noted():
    """In the description and in the annotations; the note says what to write."""
    turned = arm().replace('xyz="0 0 0.4"', 'xyz="0 0 0.4" rpy="90 0 -45"')
    (note,) = read_description(turned).notes
    assert note == (
        "angles of poses look like degrees, but count as rad: '90', '-45'; "
        'write 1.5707963 for 90 degrees'
    )
    assert read_description(turned.replace('90 0 -45', '6.2832 0 -4.71')).notes == []
    closures = CLOSURES.replace('link: tip', 'link: tip, rpy: [0, 0, 30]')
    (note,) = read_description(arm(), closures=closures).notes
    assert note.startswith("<text>: angles of poses look like degrees, but count as rad: '30'")


def test_connected_links_are_not_noted():
    """A link named almost like a closing frame may be the end of a declared loop."""
    closures = """closures: [{name: pin, frame_a: {link: closing_a}, frame_b: {link: base}}]"""
    assert read_description(arm(tip='closing_a'), closures=closures + '\n').notes == []


CLOSURES = 'closures:\n  - {name: pin, frame_a: {link: tip}, frame_b: {link: base}, type: point}\n'


@pytest.mark.parametrize('name', ['arm.closure.yaml', 'closures.yaml', 'arm.closures.yml'])
def test_annotations_with_another_name_are_noted(tmp_path, name):
    """The note names the file and the name that is searched."""
    (tmp_path / 'arm.urdf').write_text(arm())
    (tmp_path / name).write_text(CLOSURES)
    description = read_description(tmp_path / 'arm.urdf')
    (note,) = description.notes
    assert not description.closures
    assert note.startswith(f'{name}: it connects links of this robot and is not used')
    assert 'call it arm.closures.yaml' in note
    (tmp_path / name).rename(tmp_path / 'arm.closures.yaml')
    assert 'pin' in read_description(tmp_path / 'arm.urdf').closures


@pytest.mark.parametrize(
    'text',
    [CLOSURES.replace('tip', 'nose'), 'closures: []\n', 'closures:\n  - {}\n', 'a: 1\n', ''],
)
def test_other_yaml_files_are_not_noted(tmp_path, text):
    """Annotations of another robot, and files that are none."""
    (tmp_path / 'arm.urdf').write_text(arm())
    (tmp_path / 'other.yaml').write_text(text)
    assert read_description(tmp_path / 'arm.urdf').notes == []


@pytest.mark.parametrize(
    ('text', 'degrees'),
    [
        ('<mujoco><body euler="0 0 44.127"/></mujoco>', True),
        ('<mujoco><compiler angle="degree"/><body euler="0 0 44.127"/></mujoco>', True),
        ('<mujoco><body axisangle="0 0 1 44.127"/></mujoco>', True),
        ('<sdf><pose degrees="true">0 0 0 0 0 44.127</pose></sdf>', True),
        ('<mujoco><compiler angle="radian"/><body euler="0 0 0.771"/></mujoco>', False),
        ('<robot><origin rpy="0 0 0.771"/></robot>', False),
        ('<mujoco><body quat="0.924 0 0 0.383"/></mujoco>', False),
    ],
)
def test_rounding_error_of_degrees_is_in_radians(text, degrees):
    """Half a unit of the third decimal: of a degree, or of a radian."""
    (length, angle), _, _ = read_digits(fromstring(text), exact=False)
    assert length == 0.0
    unit = np.pi / 180 if degrees else 1.0
    assert 0.9 * 0.0005 * unit < angle < 1.5 * 0.0005 * unit
