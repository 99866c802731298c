"""URDF: every fault has a message with line, element, what was found and what is allowed."""

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError, UnsupportedElementError
import pytest

LINKS = '<link name="a"/>\n<link name="b"/>\n'
ENDS = '<parent link="a"/><child link="b"/>'


def joint(inside=ENDS, attributes='name="j" type="continuous"'):
    """Return a robot of two links whose joint stands on line 4."""
    return f'<robot name="r">\n{LINKS}<joint {attributes}>{inside}</joint>\n</robot>'


CASES = {
    'no type': (joint(attributes='name="j"'), 4, '<joint name="j">: .*type="..." is missing'),
    'no name': (joint(attributes='type="fixed"'), 4, '<joint>: .*name="..." is missing'),
    'no parent': (joint('<child link="b"/>'), 4, 'element <parent> is missing'),
    'no child': (joint('<parent link="b"/>'), 4, 'element <child> is missing'),
    'no link attribute': (joint('<parent/>'), 4, '<parent>: .*link="..." is missing'),
    'unknown parent': (
        joint('<parent link="aa"/><child link="b"/>'),
        4,
        "<parent>: there is no link 'aa'; did you mean 'a'",
    ),
    'unknown child': (
        joint('<parent link="a"/><child link="wheel"/>'),
        4,
        "<child>: there is no link 'wheel'; known: a, b",
    ),
    'zero axis': (joint(ENDS + '<axis xyz="0 0 0"/>'), 4, 'axis xyz="0 0 0" has no direction'),
    'axis of two': (joint(ENDS + '<axis xyz="0 1"/>'), 4, '<axis>: .*expected 3 numbers'),
    'nan origin': (joint(ENDS + '<origin xyz="0 nan 0"/>'), 4, "xyz: 'nan' is not a number"),
    'inf origin': (joint(ENDS + '<origin rpy="0 0 inf"/>'), 4, "rpy: 'inf' is out of range"),
    'zero quaternion': (
        joint(ENDS + '<origin quat_xyzw="0 0 0 0"/>'),
        4,
        'quat_xyzw="0 0 0 0" is no rotation',
    ),
    'crossed limits': (
        joint(ENDS + '<limit lower="1" upper="-1"/>', 'name="j" type="revolute"'),
        4,
        'its limits are reversed: lower 1 is above upper -1; exchange them',
    ),
    'nan limit': (joint(ENDS + '<limit lower="nan"/>'), 4, "<limit>: lower: 'nan' is not a num"),
    'mimic of nobody': (joint(ENDS + '<mimic/>'), 4, '<mimic>: .*joint="..." is missing'),
    'mimic of unknown': (
        joint(ENDS + '<mimic joint="k"/>'),
        4,
        '<joint name="j">: <mimic>: there is no joint \'k\'; known: j',
    ),
    'mimic of itself': (joint(ENDS + '<mimic joint="j"/>'), 4, "in a circle: 'j' follows 'j'"),
    'two joints of a name': (
        joint().replace('</robot>', f'<joint name="j" type="fixed">{ENDS}</joint></robot>'),
        5,
        'a joint of that name is declared on line 4',
    ),
    'two links of a name': (
        joint().replace('</robot>', '<link name="b"/></robot>'),
        5,
        '<link name="b">: a link of that name is declared on line 3',
    ),
    'link without name': ('<robot name="r">\n<link/>\n</robot>', 2, '<link>: .*name="..."'),
    'no link at all': ('<robot name="r"/>', 1, 'no <link> in it'),
}


@pytest.mark.parametrize('case', CASES)
def test_faulty_urdf_is_refused_with_its_line(case):
    """The message has the line, the element and what is wrong."""
    text, line, message = CASES[case]
    with pytest.raises(DescriptionError, match=message) as caught:
        read_description(text)
    assert caught.value.line == line
    assert str(caught.value).startswith(f'<text>:{line}: <')


def test_unknown_type_is_refused():
    """An unknown joint type is unsupported, and the known ones are listed."""
    with pytest.raises(UnsupportedElementError, match='type="screw" is not known; allowed: rev'):
        read_description(joint(attributes='name="j" type="screw"'))


def test_unknown_root_element_is_refused():
    """The error names the element and those that are allowed."""
    with pytest.raises(
        UnsupportedElementError, match=r'<html>: this format is not supported.*<robot>'
    ):
        read_description('<html/>')


def test_mimic_with_several_dof_is_refused():
    """A mimic joint and its master have one DoF each."""
    text = joint(ENDS + '<mimic joint="k"/>').replace(
        '</robot>',
        '<link name="c"/><joint name="k" type="floating"><parent link="a"/><child link="c"/>'
        '</joint></robot>',
    )
    with pytest.raises(DescriptionError, match="'j' and 'k' must have one DoF each"):
        read_description(text)


def test_a_fixed_mimic_is_ignored():
    """Exporters leave mimic on fixed joints; that is noted."""
    text = joint(ENDS + '<mimic joint="k"/>', 'name="j" type="fixed"')
    assert read_description(text).notes == ["joint 'j': it is fixed, its <mimic> is ignored"]
