"""Faults in SDFormat files are named, with their lines."""

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError, UnsupportedElementError
import pytest

LINKS = '<link name="a"/>\n<link name="b"/>\n'


def sdf(content, attributes=''):
    """Return an SDFormat text whose model has its content from line 2 on."""
    return f'<sdf version="1.9"><model name="r"{attributes}>\n{content}</model></sdf>'


def joint(inner, kind='revolute', name='j', ends='ab'):
    """Return a joint."""
    return (
        f'<joint name="{name}" type="{kind}"><parent>{ends[0]}</parent><child>{ends[1]}</child>'
        f'{inner}</joint>'
    )


FAULTS = {
    '<link/>': '2: <link>: the attribute name="..." is missing',
    '<link name="a"/><link name="a"/>': '2: .*a link of that name is declared on line 2',
    LINKS + joint('', 'piston'): '4: .*type="piston" is not known; allowed: revolute continuous',
    LINKS + joint('').replace('a<', 'x<'): "4: .*<parent>: there is no link or frame 'x'",
    LINKS + joint('').replace('b<', '<'): '4: .*its <child> is empty',
    LINKS + joint('').replace('<child>b</child>', ''): '4: .*the element <child> is missing',
    LINKS + joint('', ends='aa'): "4: .*the same link 'a'",
    LINKS + joint('') + joint(''): '4: .*a joint of that name is declared on line 4',
    LINKS + joint('<axis><xyz>0 0 0</xyz></axis>'): '4: .*its <axis> 0 0 0 has no direction',
    LINKS + joint('<axis><xyz>0 0</xyz></axis>'): "4: <xyz>: '0 0': expected 3 numbers",
    LINKS + joint('<axis><xyz>0 0 one</xyz></axis>'): "4: <xyz>: its text: 'one' is not a number",
    LINKS + joint('<axis><xyz expressed_in="x">1 0 0</xyz></axis>'): 'expressed_in>: there is no',
    LINKS + joint('<axis><limit><lower>2</lower><upper>1</upper></limit></axis>'): (
        '4: .*lower 2 is above upper 1'
    ),
    LINKS + joint('<axis><limit><lower>nan</lower></limit></axis>'): "'nan' is not a number",
    LINKS + joint('<axis><mimic/></axis>'): '4: <mimic>: the attribute joint="..." is missing',
    LINKS + joint('<axis><mimic joint="k"/></axis>'): "4: .*<mimic>: there is no joint 'k'",
    LINKS + joint('<axis><mimic joint="j"/></axis>'): "4: .*coupling in a circle: 'j' follows 'j'",
    LINKS + joint('<axis><mimic joint="j" axis="axis2"/></axis>'): 'must have one value each',
    LINKS
    + joint(
        '<thread_pitch>0</thread_pitch>', 'screw'
    ): '4: .*expected a value in .rad/m. other than 0',
    LINKS + '<link name="j__between"/>' + joint('', 'universal'): "4: .*a link is named 'j__bet",
    LINKS
    + joint('', 'universal')
    + joint('', name='j_axis2'): ":4: two joints are named 'j_axis2'",
    '<link name="a"><pose>1 2 3</pose></link>': "2: <pose>: '1 2 3': expected 6 numbers",
    '<link name="a"><pose rotation_format="rpy">1</pose></link>': 'allowed: euler_rpy quat_xyzw',
    '<link name="a"><pose rotation_format="quat_xyzw">1 2 3 0 0 0 0</pose></link>': 'is no',
    '<link name="a"><pose relative_to="x"/></link>': '2: .*<pose relative_to>: there is no',
    '<link name="a"><pose relative_to="b"/></link><link name="b"><pose relative_to="a"/></link>': (
        "2: <link name=\"a\">: 'a' is posed relative to 'b' is posed relative to 'a'"
    ),
    '<link name="a"><pose relative_to="a"/></link>': "'a' is posed relative to 'a'",
    '<link name="a"/><frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>': (
        "2: <frame name=\"f\">: 'f' is attached to 'g' is attached to 'f'"
    ),
    '<frame name="f"/>': 'no <link> in it; a robot needs one$',
    '<include><uri>x</uri></include>': 'no <link> in it.*; an <include> is not read',
    '<link name="a"/><model name="m"/><frame name="f" attached_to="m"/>': (
        '2: <model name="m">: no <link> in it; a model needs one'
    ),
    '<link name="a"><inertial><mass>-1</mass></inertial></link>': "mass of link 'a' is below 0 kg",
    '<link name="m::a"/><model name="m"><link name="a"/></model>': 'a second link of the name',
    LINKS + '<drake:ball_constraint/>': '4: .*<drake:ball_constraint_body_A> is missing',
    LINKS + '<drake:linear_bushing_rpy><drake:bushing_frameC/></drake:linear_bushing_rpy>': (
        '4: <drake:bushing_frameC>: its text is missing'
    ),
}


@pytest.mark.parametrize('content', FAULTS)
def test_faults_in_a_model_are_refused(content):
    """What was found, in which element, on which line."""
    with pytest.raises(DescriptionError, match=FAULTS[content]):
        read_description(sdf(content))


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('<sdf version="1.9"/>', 'no <model> in it$'),
        ('<sdf><world><include/></world></sdf>', 'no <model>.*an <include> is not read'),
        (
            '<sdf version="1.9"><world name="w"><model name="p"><link name="a"/></model>'
            '<model name="q"><link name="a"/></model></world></sdf>',
            "several models: 'p', 'q'; which one is the robot",
        ),
    ],
)
def test_ambiguous_model_is_refused(text, message):
    """None, or too many."""
    with pytest.raises(DescriptionError, match=message):
        read_description(text)


def test_unknown_placement_frame_and_canonical_link_are_refused():
    """Names that mean nothing in the model."""
    with pytest.raises(DescriptionError, match="placement_frame: there is no link or frame 'x'"):
        read_description(sdf(LINKS, ' placement_frame="x"'))
    with pytest.raises(DescriptionError, match="canonical_link: there is no link or frame 'x'"):
        read_description(sdf(LINKS + '<frame name="f"/>', ' canonical_link="x"'))


def test_unknown_types_have_an_exception_of_their_own():
    """Who reads many files can tell what is wrong from what is not read."""
    with pytest.raises(UnsupportedElementError):
        read_description(sdf(LINKS + joint('', 'piston')))


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
