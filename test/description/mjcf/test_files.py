"""MJCFs in several files, by <include>."""

import os

from ik_node.description.mjcf import document as document_module
from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
from ik_node.model.dof import DOF
import pytest

MAIN = '<mujoco model="m"><compiler angle="radian"/>{}<worldbody>{}</worldbody>{}</mujoco>'


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write_file(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        return path

    return write_file


def test_includes_are_expanded(write):
    """What is below the root of the other file stands where the include did."""
    write('parts/leg.xml', '<x><body name="leg"><include file="foot.xml"/></body></x>')
    write('parts/foot.xml', '<x><joint name="j"/><include file="parts/toe.xml"/></x>')
    write('parts/toe.xml', '<x><body name="toe"/></x>')
    write('settings.xml', '<x><default><joint axis="1 0 0"/></default></x>')
    main = MAIN.format('<include file="settings.xml"/>', '<include file="parts/leg.xml"/>', '')
    description = read_description(write('main.xml', main))
    assert list(description.links) == ['world', 'leg', 'toe']
    assert description.joints['j'].dof == [DOF.EX]


def test_fault_in_an_included_file_names_that_file(write):
    """The message names that file and its line."""
    part = write('part.xml', '<x>\n<body name="a">\n<joint axis="0 0 0"/></body></x>')
    main = write('main.xml', MAIN.format('', '<include file="part.xml"/>', ''))
    with pytest.raises(DescriptionError, match='axis="0 0 0" has no direction') as caught:
        read_description(main)
    assert (caught.value.source, caught.value.line) == (str(part), 3)


@pytest.mark.parametrize(
    ('include', 'message'),
    [
        ('<include/>', 'the attribute file'),
        ('<include file="none.xml"/>', "there is no file 'none.xml' in"),
        ('<include file="\x7f"/>', 'there is no file'),
        (f'<include file="{"x" * 5000}"/>', 'cannot be read: File name too long'),
        ('<include file="."/>', "there is no file '.' in"),
        ('<include file="pipe.xml"/>', 'there is no file'),
        ('<include file="main.xml"/>', "the file 'main.xml' includes itself"),
        ('<include file="one.xml"/>', "the file 'one.xml' includes itself"),
        ('<include file="bad.xml"/>', 'not well-formed XML'),
        ('<include file="deep.xml"/>', 'nested more than 300 deep'),
        ('<include file="locked.xml"/>', "the file 'locked.xml' cannot be read"),
    ],
)
def test_includes_that_are_refused(write, tmp_path, monkeypatch, include, message):
    """By name, and before they take time or memory."""
    write('one.xml', '<x><include file="two.xml"/></x>')
    write('two.xml', '<x><include file="one.xml"/></x>')
    write('bad.xml', '<x>')
    write('deep.xml', '<x>' + '<body>' * 298 + '</body>' * 298 + '</x>')
    os.mkfifo(tmp_path / 'pipe.xml')  # reading it would wait for ever
    locked = write('locked.xml', '<x/>')
    main = write('main.xml', MAIN.format('', f'<body name="a">{include}</body>', ''))
    opened = type(locked).open

    def refuse(path, *arguments):
        if path.name == 'locked.xml':
            raise PermissionError(13, 'Permission denied')
        return opened(path, *arguments)

    monkeypatch.setattr(type(locked), 'open', refuse)
    with pytest.raises(DescriptionError, match=message):
        read_description(main)


def test_other_files_are_bounded(write, monkeypatch):
    """All of them together; a text has no folder, so that it has none."""
    monkeypatch.setattr(document_module, 'MAX_BYTES', 100)
    write('part.xml', '<x><geom/>' + ' ' * 60 + '</x>')
    main = MAIN.format('', '<include file="part.xml"/>' * 2, '')
    with pytest.raises(DescriptionError, match='more than 100 bytes in other files'):
        read_description(write('main.xml', main))
    with pytest.raises(DescriptionError, match='a description given as text has no folder'):
        read_description(MAIN.format('<include file="/etc/hostname"/>', '', ''))
