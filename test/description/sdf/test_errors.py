"""Faults in SDFormat files are named, with their lines."""

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
import pytest


def sdf(content, attributes=''):
    """Return an SDFormat text whose model has its content from line 2 on."""
    return f'<sdf version="1.9"><model name="r"{attributes}>\n{content}</model></sdf>'


def test_unknown_versions_are_noted():
    """A version that is none is read as the newest, with a note."""
    for version in ('', 'x', '1', '1.9.1.', '9' * 50):
        text = f'<sdf version="{version}"><model name="r"><link name="a"/></model></sdf>'
        description = read_description(text)
        assert description.dialect == 'SDFormat'
        assert any('read as SDFormat 1.12' in note for note in description.notes)


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
