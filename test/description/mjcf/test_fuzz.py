"""Whatever is in an MJCF: an IkError or a valid description."""

from copy import deepcopy
from xml.etree.ElementTree import fromstring, tostring

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.description.description import apply_loops
from ik_node.description.mjcf.reader import read_mjcf
from ik_node.description.xml_document import parse_xml
from support.any_text import check, mutated, tokens_of

SEED = """<mujoco model="m"><compiler angle="radian" eulerseq="xyz" autolimits="true"/>
<default><joint axis="0 1 0"/><default class="c"><joint range="-1 1"/><site zaxis="0 1 0"/>
</default></default><worldbody><frame pos="0 0 1" euler="0.1 0 0">
<body name="a" pos="1 2 3" quat="1 0 0 0" childclass="c"><joint name="j" ref="0.1"/>
<joint name="k" type="slide" pos="0 0 1"/><site name="s" pos="0 0 1"/>
<inertial pos="0 0 0" mass="1"/><geom type="box" size="1 1 1"/>
<body name="b" xyaxes="1 0 0 0 1 0"><joint name="l" type="ball" class="main"/></body>
</body></frame><body name="r" mocap="false"><freejoint name="f"/><site name="t"/></body>
<replicate count="2" offset="0 1 0" euler="0 0 1" sep="-"><body name="p"><joint name="q"/></body>
</replicate></worldbody><equality><connect name="e" body1="a" body2="r" anchor="0 0 0"/>
<weld site1="s" site2="t" torquescale="1"/><weld body1="a" relpose="0 0 0 1 0 0 0" active="false"/>
<joint joint1="j" joint2="k" polycoef="0 1 2"/><joint joint1="q"/></equality>
<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
<actuator><motor joint="j"/><position tendon="t"/></actuator></mujoco>"""
ODD = [
    *tokens_of(SEED),
    *('nan', 'inf', '-inf', '1e400', '1e-400', '1e12', '-1e12', '1e-14', '9' * 400, '0x1', '1_0'),
    *('é', '\x00', '<', '>', '</body>', '<body>', '<joint/>', '<joint type="free"/>', '<geom/>'),
    *(
        '<flexcomp/>',
        '<composite/>',
        '<attach/>',
        '<include file="."/>',
        '<worldbody/>',
        '<frame>',
    ),
    *(
        'degree',
        'XYZ',
        'free',
        'world',
        'limited="true"',
        'range="0 0"',
        'euler="1 2 3"',
        '"',
        "'",
    ),
    *('1 1', '0 0 0', 'class="c"', 'class="d"', 'count="99999"', 'mesh="x"', 'settotalmass="1"'),
]
VALUES = [
    *(
        '0',
        '1',
        '-1',
        '0 0 0',
        '1 0 0',
        '0 0 1',
        '1 2 3 4',
        '1e12 -1e12 1e12',
        '1e-300 0 0',
        'nan',
    ),
    *('inf', '', ' ', 'true', 'false', 'auto', 'a', 'b', 'r', 's', 't', 'j', 'k', 'c', 'main'),
    *(
        'world',
        'free',
        'ball',
        'slide',
        'hinge',
        '1 -1',
        '-1 1',
        '0 0 0 0',
        'XYZ',
        '9' * 30,
        'degree',
    ),
]
NAMES = [
    *(
        'name',
        'class',
        'childclass',
        'pos',
        'quat',
        'euler',
        'zaxis',
        'axisangle',
        'xyaxes',
        'axis',
    ),
    *('range', 'limited', 'ref', 'type', 'body1', 'body2', 'site1', 'site2', 'joint1', 'joint2'),
    *(
        'anchor',
        'relpose',
        'polycoef',
        'torquescale',
        'active',
        'joint',
        'tendon',
        'mass',
        'fromto',
    ),
    *('angle', 'autolimits', 'inertiafromgeom', 'settotalmass', 'count', 'mocap', 'size', 'sep'),
]
places = st.integers(0, 60)
edits = st.lists(
    st.tuples(places, st.sampled_from(NAMES), st.sampled_from(VALUES))
    | st.tuples(places, st.sampled_from(['drop', 'double', 'move']), places),
    min_size=1,
    max_size=5,
)


def read(text):
    """Read a text and its loops."""
    description = read_mjcf(parse_xml(text, '<text>'))
    for loops in description.loops:
        apply_loops(loops, description)
    return description


def edited(chosen):
    """Return the seed with attributes changed and elements dropped, doubled or moved."""
    root = fromstring(SEED)
    for place, name, value in chosen:
        elements = list(root.iter())
        element = elements[place % len(elements)]
        parent = next((each for each in elements if element in list(each)), None)
        if isinstance(value, str):
            element.set(name, value)
        elif parent is not None:
            if name == 'double':
                parent.append(deepcopy(element))
                continue
            parent.remove(element)
            if name == 'move':
                left = list(root.iter())
                left[value % len(left)].append(element)
    return tostring(root, encoding='unicode')


def test_the_seed_is_valid():
    """The text that is mutated is itself read."""
    assert len(check(read, SEED).closures) == 3


@settings(max_examples=300, deadline=None)
@given(mutated(SEED, ODD, most=4))
def test_mutated_mjcf_is_read_or_refused(text):
    """Any bytes of it may be others."""
    check(read, text)


@settings(max_examples=300, deadline=None)
@given(edits)
def test_edited_mjcf_is_read_or_refused(chosen):
    """The same where the text stays well-formed."""
    check(read, edited(chosen))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.sampled_from(['', '<worldbody>', '<equality>', '<actuator>']))
def test_garbage_is_refused(text, inside):
    """Any text in a section."""
    end = inside.replace('<', '</')
    check(read, f'<mujoco>{inside}{text}{end}</mujoco>')
