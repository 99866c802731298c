"""Reading: sources, sidecars, roots, trimming."""

import os
from pathlib import Path
import sys

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError, OptionError, TopologyError
from ik_node.model.dof import DOF
import pytest
from support.robot_texts import joint, urdf

ARM = urdf('a b c', joint('j', 'a', 'b'), joint('k', 'b', 'c', kind='fixed'))


def test_text_and_path_read_the_same(tmp_path):
    """Text begins with '<', also after a byte order mark or white space; else it is a path."""
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM)
    for source in (ARM, '\ufeff \n' + ARM, path, str(path)):
        description = read_description(source)
        assert list(description.joints) == ['j', 'k']
    assert (description.source, description.text) == (str(path), path.read_bytes())
    path.write_text(ARM, encoding='utf-16')
    assert list(read_description(path).joints) == ['j', 'k']


class UrdfObject:
    """An object as urdf_parser_py returns it."""

    def to_xml_string(self):
        """Return the text without elements that urdf_parser_py does not know."""


def test_robots_of_the_package_load_by_name(tmp_path, monkeypatch):
    """As text or Path; a file of this name comes first."""
    assert read_description('hexapod').name == read_description(Path('hexapod')).name == 'hexapod'
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'hexapod').write_text(ARM)
    assert list(read_description('hexapod').joints) == ['j', 'k']


def test_unreadable_source_is_refused(tmp_path):
    """A missing file, a folder, nothing, and what is no path."""
    (tmp_path / 'two_arm.urdf').write_text(ARM)
    for source, message in (
        (
            'missing.urdf',
            "missing.urdf: cannot be read: No such file .* text that begins with '<'",
        ),
        (tmp_path, 'it is a folder; name a file in it: two_arm.urdf'),
        ('', 'the description is empty'),
        ('a\0b', 'cannot be read: '),
        ('x' * 5000, 'cannot be read: '),
        (None, 'cannot be read: it is of the type NoneType'),
        (UrdfObject(), 'load the file or its text instead'),
        ('hexapd', "did you mean 'hexapod'"),
        (tmp_path / 'twoarm.urdf', "did you mean 'two_arm.urdf'"),
    ):
        with pytest.raises(DescriptionError, match=message):
            read_description(source)


def test_large_files_are_refused(tmp_path):
    """Text and files above the limit are refused."""
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM)
    for source in (ARM, path):
        with pytest.raises(DescriptionError, match='the largest description read is 50 bytes'):
            read_description(source, max_bytes=50)


def test_floating_root_gets_a_joint():
    """A joint with six DoF carries the robot and is the first of its joints."""
    description = read_description(ARM, root='floating')
    assert description.root.name == '__world_joint__'
    assert description.root.dof == list(DOF)
    assert description.root.child is description.links['a']
    assert [joint.name for joint in description.joint_order] == ['__world_joint__', 'j']
    with pytest.raises(OptionError, match="root: 'free' cannot be used; use fixed floating"):
        read_description(ARM, root='free')


def test_several_roots_are_fixed_or_float():
    """Each is fixed in the world, or floats by itself; that is noted."""
    text = urdf('a b c', joint('j', 'a', 'b'))
    description = read_description(text)
    assert [root.name for root in description.roots] == ['a', 'c']
    assert description.notes[-1] == "links without a parent: 'a', 'c'; each is fixed in the world"
    description = read_description(text, root='floating')
    assert [root.name for root in description.roots] == ['__world_joint__', '__world_joint__:c']
    assert all(root.parent is None for root in description.roots)


PIN = '<loop_joint name="pin" type="point"><link1 link="b"/><link2 link="world"/></loop_joint>'


@pytest.mark.parametrize('root', ['fixed', 'floating'])
@pytest.mark.parametrize('declared', [True, False])
def test_closures_on_the_world_are_read(root, declared):
    """The link `world` stands still, declared or not; the robot floats beside it."""
    text = ARM.replace('</robot>', '<link name="world"/></robot>' if declared else '</robot>')
    description = read_description(text.replace('</robot>', f'{PIN}</robot>'), root=root)
    closure = description.closures['pin']
    assert closure.parent is description.links['world']
    assert closure.parent.parent is None
    assert closure.parent in description.roots
    assert description.root is not closure.parent
    assert description.links['a'].parent is description.joints.get('__world_joint__')
    assert len(description.joint_order) == (1 if root == 'fixed' else 2)
    noted = 'closure \'pin\': the link "world" is not declared; it is taken as the fixed world'
    assert any(note.startswith(noted) for note in description.notes) == (not declared)


def test_taken_world_joint_name_is_refused():
    """A robot that has a joint of that name cannot float."""
    text = urdf('a b', joint('__world_joint__', 'a', 'b'))
    with pytest.raises(TopologyError, match="the joint name '__world_joint__' is taken"):
        read_description(text, root='floating')


def test_trim_unused_removes_fixed_branches():
    """Branches that neither move nor close a loop go; the rest stays."""
    text = urdf(
        'a b c d e f g',
        joint('ab', 'a', 'b'),
        joint('bc', 'b', 'c', kind='fixed'),
        joint('cd', 'c', 'd', kind='fixed'),
        joint('ae', 'a', 'e', kind='fixed'),
        joint('ef', 'e', 'f'),
        joint('bg', 'b', 'g', kind='fixed'),
    )
    description = read_description(text, trim_unused=True)
    assert list(description.links) == ['a', 'b', 'e', 'f']
    assert list(description.joints) == ['ab', 'ae', 'ef']
    assert description.links['b'].children == []
    loop = {'closures': [{'frame_a': 'd', 'frame_b': 'g'}]}
    description = read_description(text, closures=loop, trim_unused=True)
    assert list(description.links) == list('abcdefg')


def test_long_chains_are_read():
    """A chain of 2000 joints is read without running out of stack."""
    count = 2000
    joints = [joint(f'j{i}', f'l{i}', f'l{i + 1}') for i in range(count)]
    description = read_description(urdf([f'l{i}' for i in range(count + 1)], *joints))
    assert description.links[f'l{count}'].matrix_world[3, 3] == 1.0


def test_reading_a_urdf_enters_few_files(repository):
    """A person can follow how a URDF becomes a description."""
    source = repository / 'urdf' / 'hexapod.urdf'
    read_description(source)
    entered = set()

    def note(frame, event, argument):
        file = frame.f_code.co_filename
        if event == 'call' and f'{os.sep}ik_node{os.sep}' in file:
            entered.add(file)

    sys.setprofile(note)
    try:
        read_description(source)
    finally:
        sys.setprofile(None)
    assert len(entered) <= 34
