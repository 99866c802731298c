"""Files that are mistaken for robot descriptions."""

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
import pytest


def test_file_of_another_kind_is_named(tmp_path):
    """The error says what the file is and what to read instead, in one line."""
    for name, reason in [
        ('arm.png', 'this is a picture'),
        ('arm.step', 'this is a CAD file, whose joints cannot be read: export a URDF'),
        ('arm.SLDPRT', 'this is a CAD file'),
        ('arm.zip', 'this is an archive: unpack it'),
        ('arm.stl', 'this is a mesh without joints'),
        ('arm.usda', 'this is a USD file'),
        ('arm.sdf.erb', r'expand it first, `erb model\.sdf\.erb > model\.sdf`'),
        ('arm.closures.yaml', 'this is not a robot description: name the robot'),
    ]:
        for content in [b'\x89PNG\0\1', b'<% x %>', b'<COLLADA/>']:
            path = tmp_path / name
            path.write_bytes(content)
            with pytest.raises(DescriptionError, match=f'{name}: .*{reason}') as caught:
                read_description(path)
            assert '\n' not in str(caught.value)


def test_description_is_read_whatever_its_name(tmp_path):
    """The content decides."""
    path = tmp_path / 'arm.png'
    path.write_text('<robot name="arm"><link name="base"/></robot>')
    assert read_description(path).name == 'arm'


@pytest.mark.parametrize('content', [b'', b' \n\t\n'])
def test_empty_file_is_refused(tmp_path, content):
    """It is the usual result of an export that failed."""
    path = tmp_path / 'arm.urdf'
    path.write_bytes(content)
    with pytest.raises(DescriptionError, match=r'arm\.urdf: the file is empty'):
        read_description(path)


def test_folder_lists_its_descriptions(tmp_path):
    """At most five of them are named."""
    with pytest.raises(DescriptionError, match='without a robot description'):
        read_description(tmp_path)
    for number in range(7):
        (tmp_path / f'arm{number}.urdf').write_text('')
    with pytest.raises(
        DescriptionError, match=r'name a file in it: arm0\.urdf .* arm4\.urdf \.\.\.'
    ):
        read_description(tmp_path)
