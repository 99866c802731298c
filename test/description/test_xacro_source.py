"""xacro is expanded, within bounds, or it is said why not."""

import sys

from ik_node.description import xacro_source
from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
import pytest

pytest.importorskip('xacro')

SPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
CHAIN = """<xacro:macro name="chain" params="i">
  <xacro:if value="${i > 0}">
    <link name="l${i}"/>
    <joint name="j${i}" type="continuous">
      <parent link="l${i - 1}"/> <child link="l${i}"/> <axis xyz="0 0 1"/>
    </joint>
    <xacro:chain i="${i - 1}"/>
  </xacro:if>
</xacro:macro>"""
ROBOT = f"""<?xml version="1.0"?>
<robot name="r" {SPACE}>
  <xacro:arg name="count" default="3"/>
  {CHAIN}
  <link name="l0"/>
  <xacro:chain i="${{int('$(arg count)')}}"/>
</robot>"""


def test_text():
    """Macros, conditions and arguments with their defaults."""
    description = read_description(ROBOT)
    assert sorted(description.joints) == ['j1', 'j2', 'j3']
    assert description.dialect == 'URDF from xacro'
    assert b'xacro:' not in description.text


def test_a_file_and_what_it_includes(tmp_path):
    """Beside it, and in its own package, whether that is installed or not."""
    folder = tmp_path / 'my_description' / 'urdf'
    folder.mkdir(parents=True)
    (tmp_path / 'my_description' / 'package.xml').write_text(
        '<package><name>my_description</name></package>'
    )
    (folder / 'chain.xacro').write_text(f'<robot {SPACE}>{CHAIN}</robot>')
    for place in ('chain.xacro', '$(find my_description)/urdf/chain.xacro'):
        include = f'<xacro:include filename="{place}"/>'
        (folder / 'r.urdf.xacro').write_text(ROBOT.replace(CHAIN, include))
        description = read_description(folder / 'r.urdf.xacro')
        assert len(description.joints) == 3
        assert description.notes == []


def test_a_sidecar_of_an_expanded_file(tmp_path):
    """NAME.closures.yaml goes with NAME.urdf.xacro."""
    (tmp_path / 'r.urdf.xacro').write_text(ROBOT)
    (tmp_path / 'r.closures.yaml').write_text('closures:\n  - {name: c, frame_a: l3, frame_b: l0}')
    assert list(read_description(tmp_path / 'r.urdf.xacro').closures) == ['c']


def test_a_package_that_is_not_there(tmp_path):
    """Of a mesh or of settings it does not matter; an included file is needed."""
    (tmp_path / 'r.xacro').write_text(
        ROBOT.replace('<link name="l0"/>', '<link name="l0"/><gazebo a="$(find nowhere)/x"/>')
    )
    description = read_description(tmp_path / 'r.xacro')
    assert description.notes == ["xacro says: the package 'nowhere' is not found."]
    (tmp_path / 'r.xacro').write_text(
        ROBOT.replace(CHAIN, '<xacro:include filename="$(find nowhere)/x.xacro"/>')
    )
    with pytest.raises(DescriptionError, match=r'nowhere.*source the workspace that has the pack'):
        read_description(tmp_path / 'r.xacro')


def test_errors_name_the_expanded_text(tmp_path):
    """Their lines are those of what came out."""
    (tmp_path / 'r.xacro').write_text(ROBOT.replace('type="continuous"', 'type="${1 + 1}"'))
    with pytest.raises(DescriptionError, match=r'r\.xacro, expanded:\d+: <joint name="j\d">: typ'):
        read_description(tmp_path / 'r.xacro')


def test_nothing_to_expand(tmp_path):
    """A file may be called .xacro and be plain; a namespace alone is no macro."""
    (tmp_path / 'r.xacro').write_text(f'<robot name="r" {SPACE}><link name="a"/></robot>')
    assert read_description(tmp_path / 'r.xacro').dialect == 'URDF'


@pytest.mark.parametrize(
    ('inside', 'message'),
    [
        ('<xacro:nobody/>', 'cannot be expanded: .*nobody'),
        ('<link name="${what}"/><xacro:property name="x" value="1"/>', "name 'what' is not def"),
        ('<link name="${1/0}"/><xacro:property name="x" value="1"/>', 'division by zero'),
        ('<xacro:include filename="not_there.xacro"/>', 'not_there.xacro'),
        (
            '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>',
            'its macros call one another without end',
        ),
        ('<link name="$(arg a)"/><xacro:property name="x" value="1"/>', 'argument.*expand it fir'),
        ('<xacro:property name="x" value="1"/>', 'no <link> in it.*macros alone are none'),
    ],
)
def test_what_xacro_says(inside, message):
    """Its message is passed on."""
    with pytest.raises(DescriptionError, match=message):
        read_description(f'<robot name="r" {SPACE}>{inside}</robot>')


def test_an_undeclared_prefix():
    """The prefix must be declared."""
    with pytest.raises(DescriptionError, match=r'unbound prefix.*declare it: <robot xmlns:xacro='):
        read_description('<robot name="r"><xacro:a/></robot>')


def test_it_is_not_installed(monkeypatch):
    """How to install it, and how to do without."""
    monkeypatch.setattr(xacro_source, 'CHILD_FLAGS', ('-S', '-E'))  # no site-packages
    with pytest.raises(DescriptionError, match='xacro is not installed: `pip install xacro`, or'):
        read_description(ROBOT)
    monkeypatch.setattr(sys, 'executable', '/nowhere')
    with pytest.raises(
        DescriptionError, match='this is xacro, not yet a URDF, and it cannot be started'
    ):
        read_description(ROBOT)


def test_time_is_bounded(monkeypatch):
    """Macros can double what they call as often as they like."""
    monkeypatch.setattr(xacro_source, 'MAX_SECONDS', 1.0)
    doubling = ''.join(
        f'<xacro:macro name="m{i}"><xacro:m{i + 1}/><xacro:m{i + 1}/></xacro:macro>'
        for i in range(40)
    )
    text = (
        f'<robot {SPACE}>{doubling}<xacro:macro name="m40"><a/></xacro:macro><xacro:m0/></robot>'
    )
    with pytest.raises(DescriptionError, match='not done after 1 s'):
        read_description(text)


def test_memory_is_bounded():
    """An expression that would fill any memory fails."""
    if sys.platform != 'linux':
        pytest.skip('the limit is one of POSIX')
    text = (
        f'<robot {SPACE}><link name="${{len(list(range(10**10)))}}"/><xacro:arg name="x"/></robot>'
    )
    with pytest.raises(DescriptionError, match=r'too much memory|cannot be expanded'):
        read_description(text)
