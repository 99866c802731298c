"""xacro in a file is expanded within limits; in a text it is refused."""

from ik_node.description import xacro_source
from ik_node.description.read import read_description
from ik_node.errors import DescriptionError, OptionError
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


# Python code that xacro would run: it reaches os.system through the classes of an empty tuple.
ATTACK = (
    '${{(lambda: [c for c in ().__class__.__base__.__subclasses__()'
    " if c.__name__ == '_wrap_close'][0].__init__.__globals__['system']('touch {}'))()}}"
)


@pytest.fixture
def read_file(tmp_path):
    """Return a function that reads a text from a file."""

    def read(text, **options):
        (tmp_path / 'r.xacro').write_text(text)
        return read_description(tmp_path / 'r.xacro', **options)

    return read


@pytest.mark.parametrize('prefix', ['xacro', 'x', 'undeclared'])
def test_text_is_refused_and_its_code_is_not_run(tmp_path, prefix):
    """Whatever the prefix that is bound to xacro's namespace; the error says how to go on."""
    attack = ATTACK.format(tmp_path / 'ran')
    text = (
        f'<robot name="r" xmlns:{prefix}="http://www.ros.org/wiki/xacro"><link name="a"/>'
        f'<{prefix}:property name="p" value="{attack}"/><link name="${{p}}"/></robot>'
    )
    if prefix == 'undeclared':
        text = text.replace('xmlns:undeclared="http://www.ros.org/wiki/xacro"', '')
        text = text.replace('undeclared:', 'xacro:')
    with pytest.raises(DescriptionError, match=r'a text is not expanded.*`xacro FILE .*> robot'):
        read_description(text)
    assert not (tmp_path / 'ran').exists()


def test_xacro_file_is_expanded(read_file):
    """Macros, conditions and arguments with their defaults."""
    description = read_file(ROBOT)
    assert sorted(description.joints) == ['j1', 'j2', 'j3']
    assert description.dialect == 'URDF from xacro'
    assert b'xacro:' not in description.text


def test_includes_are_found_beside_the_file(tmp_path):
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


def test_sidecar_of_an_expanded_file_is_read(tmp_path):
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
    with pytest.raises(
        DescriptionError, match=r'nowhere.*source the workspace that contains the pack'
    ):
        read_description(tmp_path / 'r.xacro')


def test_errors_refer_to_the_expanded_text(tmp_path):
    """Their lines are those of what came out."""
    (tmp_path / 'r.xacro').write_text(ROBOT.replace('type="continuous"', 'type="${1 + 1}"'))
    with pytest.raises(DescriptionError, match=r'r\.xacro, expanded:\d+: <joint name="j\d">: typ'):
        read_description(tmp_path / 'r.xacro')


def test_file_without_xacro_is_read_directly(tmp_path):
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
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', 'recursion'),
        ('<link name="$(arg a)"/><xacro:property name="x" value="1"/>', 'argument.*expand it fir'),
        (
            '<xacro:property name="x" value="1"/>',
            'no <link> in it.*a robot needs at least one link, not only macros',
        ),
    ],
)
def test_error_of_xacro_is_reported(read_file, inside, message):
    """Its message is passed on."""
    with pytest.raises(DescriptionError, match=message):
        read_file(f'<robot name="r" {SPACE}>{inside}</robot>')


def test_undeclared_prefix_is_refused(read_file):
    """The prefix must be declared."""
    with pytest.raises(DescriptionError, match=r'unbound prefix.*declare it: <robot xmlns:xacro='):
        read_file('<robot name="r"><xacro:a/></robot>')


def test_missing_xacro_is_reported(read_file, monkeypatch):
    """How to install it, and how to do without."""
    monkeypatch.setattr(xacro_source, 'find_spec', lambda name: None)
    with pytest.raises(DescriptionError, match='pip install xacro'):
        read_file(ROBOT)


def test_time_is_limited(read_file):
    """An expression could go on for ever."""
    text = f'<robot {SPACE}><link name="${{9**9**9}}"/><xacro:arg name="x"/></robot>'
    with pytest.raises(DescriptionError, match='xacro_seconds'):
        read_file(text, xacro_seconds=1.0)


@pytest.mark.parametrize('seconds', [0.0, float('nan'), 86401.0])
def test_time_limit_is_positive_and_at_most_a_day(read_file, seconds):
    """No time at all, or one without end, is refused, before the system's own limits."""
    with pytest.raises(OptionError, match=r'xacro_seconds.*a positive number, up to 86400'):
        read_file(ROBOT, xacro_seconds=seconds)
