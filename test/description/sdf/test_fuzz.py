"""Whatever is in an SDFormat file: an IkError or a valid description, in bounded time."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.description.read import read_description
import pytest
from support.any_text import check, mutated, tokens_of

SEED = """<?xml version="1.0"?>
<sdf version="1.11"><world name="w"><frame name="table"><pose>0 0 1 0 0 0</pose></frame>
<model name="r" canonical_link="a" placement_frame="f"><pose relative_to="table">1 2 3 0 0 1</pose>
<link name="a"><inertial><mass>2</mass><pose>1 0 0 0 0 0</pose></inertial></link>
<link name="b"><pose degrees="true">1 0 0 0 90 0</pose></link>
<link name="c"><pose relative_to="b" rotation_format="quat_xyzw">0 0 1 0 0 0 1</pose></link>
<frame name="f" attached_to="b"><pose relative_to="j">0 0 1 0 0 0</pose></frame>
<joint name="j" type="revolute"><parent>a</parent><child>b</child><pose>0 0 1 0 0 0</pose>
<axis><xyz expressed_in="__model__">0 1 1</xyz><limit><lower>-1</lower><upper>1e16</upper>
<velocity>2</velocity><effort>0</effort></limit></axis></joint>
<joint name="k" type="universal"><parent>f</parent><child>c</child>
<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
<model name="m"><pose>0 0 1 0 0 0</pose><link name="d"/><link name="e"/>
<joint name="s" type="screw"><parent>d</parent><child>e</child><thread_pitch>20</thread_pitch>
<axis><xyz>0 0 1</xyz><mimic joint="t"><multiplier>2</multiplier></mimic></axis></joint>
<joint name="t" type="prismatic"><parent>d</parent><child>e</child><axis><xyz>0 0 1</xyz></axis>
</joint></model>
<joint name="l" type="ball"><parent>a</parent><child>c</child></joint>
<joint name="o" type="fixed"><parent>world</parent><child>m::d</child></joint>
<joint name="g" type="gearbox"><parent>b</parent><child>c</child><gearbox_ratio>2</gearbox_ratio>
<gearbox_reference_body>a</gearbox_reference_body></joint>
<drake:linear_bushing_rpy><drake:bushing_frameA>a</drake:bushing_frameA>
<drake:bushing_frameC>f</drake:bushing_frameC>
<drake:bushing_torque_stiffness>1 1 0</drake:bushing_torque_stiffness>
<drake:bushing_force_stiffness>1 1 1</drake:bushing_force_stiffness></drake:linear_bushing_rpy>
<plugin filename="diff-drive" name="x"><left_joint>j</left_joint></plugin>
<include><uri>model://x</uri></include></model></world></sdf>"""
ODD = [
    *tokens_of(SEED),
    *('nan', 'inf', '-inf', '1e400', '1e-400', '0', '-1', '9' * 400, '1_0', 'é', '::', 'm::d'),
    *(
        '<',
        '>',
        '<!--',
        '-->',
        '--',
        '<![CDATA[',
        '&amp;',
        '&x;',
        '<limit/>',
        '<pose/>',
        '<axis/>',
    ),
    *(
        'revolute2',
        'planar',
        'fixed',
        'drake:joint',
        '__model__',
        'm::m::d',
        '"',
        "'",
        '\t',
        '1.4',
    ),
]


def test_the_seed_is_valid():
    """The text that is mutated is itself read, with all it has."""
    description = read_description(SEED)
    assert {'l', 'm::t'} <= {*description.closures}
    assert description.actuated == ['j']


@settings(max_examples=500, deadline=None)
@given(mutated(SEED, ODD), st.sampled_from(('fixed', 'floating')), st.booleans())
def test_mutated_sdf_is_read_or_refused(text, root, trim):
    """An SDFormat text with some tokens changed."""
    check(read_description, '<' + text.lstrip('<'), root=root, trim_unused=trim)


NAMES = st.sampled_from(['a', 'b', 'm', 'm::a', 'world', '__model__', 'a::b', 'f', 'j', ''])
WORDS = st.sampled_from(['0 0 0 0 0 0', '1 2 3 0.1 0.2 0.3', '1', 'nan', '', '0 0 1'])


@st.composite
def elements(draw, depth=0):
    """Make a model of any names in any places."""
    parts = []
    for _ in range(draw(st.integers(0, 6))):
        tag = draw(st.sampled_from(('link', 'frame', 'joint', 'model', 'drake:joint')))
        name, other = draw(NAMES), draw(NAMES)
        pose = f'<pose relative_to="{draw(NAMES)}">{draw(WORDS)}</pose>'
        inner = pose if draw(st.booleans()) else ''
        if tag == 'model':
            inner += draw(elements(depth + 1)) if depth < 3 else ''
        elif 'joint' in tag:
            kinds = ('revolute', 'ball', 'screw', 'universal', 'fixed', 'gearbox', 'planar')
            kind = draw(st.sampled_from(kinds))
            inner += f'<parent>{draw(NAMES)}</parent><child>{other}</child><axis><xyz>'
            inner += f'{draw(WORDS)}</xyz><mimic joint="{draw(NAMES)}"/></axis>'
            inner += f'<gearbox_reference_body>{draw(NAMES)}</gearbox_reference_body>'
            parts.append(f'<{tag} name="{name}" type="{kind}">{inner}</{tag}>')
            continue
        parts.append(
            f'<{tag} name="{name}" attached_to="{other}" placement_frame="{draw(NAMES)}" '
            f'canonical_link="{draw(NAMES)}">{inner}</{tag}>'
        )
    return ''.join(parts)


@settings(max_examples=500, deadline=None)
@given(elements(), st.sampled_from(('1.4', '1.6', '1.9', '1.12')))
def test_any_graph_is_read_or_refused(content, version):
    """Models nested and tied by names at random."""
    check(
        read_description,
        f'<sdf version="{version}"><model name="m"><link name="a"/>{content}</model></sdf>',
    )


@pytest.mark.parametrize(
    'text', ['<sdf', '<sdf/>', '<sdf>', '<sdf><model/></sdf>', '<sdf><world/></sdf>']
)
def test_truncated_sdf_is_refused(text):
    """The first bytes of a description alone."""
    check(read_description, text)
