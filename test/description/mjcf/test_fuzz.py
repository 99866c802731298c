"""Whatever is in an MJCF: an IkError or a valid description, with MuJoCo and without."""

from copy import deepcopy
from pathlib import Path
import re
from xml.etree.ElementTree import fromstring, tostring

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.description.apply_loops import apply_loops
from ik_node.description.mjcf.compiled import find_spec
from ik_node.description.mjcf.reader import read_mjcf
from ik_node.description.xml_document import parse_xml
from ik_node.errors import IkError
import numpy as np
import pytest

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
TOKENS = re.findall(r'[\w.-]+|\s+|[^\w\s]', SEED)
ODD = [
    *sorted(set(TOKENS)),
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
changes = st.lists(
    st.tuples(
        st.integers(0, len(TOKENS) - 1),
        st.sampled_from(ODD),
        st.sampled_from(['replace', 'drop', 'double']),
    ),
    min_size=1,
    max_size=4,
)
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
needs_mujoco = pytest.mark.skipif(find_spec('mujoco') is None, reason='mujoco is not installed')


def check(text, compiler):
    """Read, and where that succeeds look at everything."""
    try:
        description = read_mjcf(parse_xml(text, '<text>'), compiler=compiler)
        for loops in description.loops:
            apply_loops(loops, description)
    except IkError as error:
        said = str(error)
    else:
        return inspected(description)
    assert 0 < len(said) < 2000
    return None


def inspected(description):
    """Look at all numbers of a description, and return it."""
    for link in description.links.values():
        assert np.isfinite(link.matrix_world).all()
        assert np.isfinite(link.centre_of_mass).all()
        assert 0.0 <= link.mass < np.inf
    for joint in description.joint_order:
        assert (joint.min_dof_limit <= joint.dof_values).all()
        assert (joint.dof_values <= joint.max_dof_limit).all()
    for closure in description.closures.values():
        assert np.isfinite(closure.get_residual()).all()
    return description


def mutated(chosen):
    """Return the seed with some tokens replaced, dropped or doubled."""
    made = list(TOKENS)
    for place, odd, how in chosen:
        made[place] = {'replace': odd, 'drop': '', 'double': made[place] + odd}[how]
    return ''.join(made)


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
    assert len(check(SEED, False).closures) == 3
    if find_spec('mujoco') is not None:
        assert 'compiled' in check(SEED, True).dialect


@settings(max_examples=150, deadline=None)
@given(changes)
def test_mutated(chosen):
    """Our own reader."""
    check(mutated(chosen), False)


@needs_mujoco
@settings(max_examples=150, deadline=None)
@given(changes)
def test_mutated_with_mujoco(chosen):
    """The compiler neither ends the process nor writes files, and agrees with our reading."""
    both_ways(mutated(chosen))


@needs_mujoco
@settings(max_examples=150, deadline=None)
@given(edits)
def test_edited_with_mujoco(chosen):
    """The same where the text stays well-formed."""
    both_ways(edited(chosen))


def both_ways(text):
    """Read with MuJoCo and without, and compare."""
    here = set(Path.cwd().iterdir())
    own, other = check(text, False), check(text, True)
    assert (own is None) == (other is None)
    assert set(Path.cwd().iterdir()) == here
    # Numbers as large as are allowed leave no digits for the rest.
    if own is not None and 'compiled' in other.dialect and 'e12' not in text:
        for name, link in own.links.items():
            there, size = other.links[name].matrix_world, 1.0 + np.abs(link.matrix_world).max()
            np.testing.assert_allclose(link.matrix_world / size, there / size, atol=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.sampled_from(['', '<worldbody>', '<equality>', '<actuator>']))
def test_garbage(text, inside):
    """Any text in a section."""
    end = inside.replace('<', '</')
    check(f'<mujoco>{inside}{text}{end}</mujoco>', False)
