"""Whatever the bytes: an IkError or a valid description, never another exception."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.description.read import read_description
import pytest
from support.any_text import check, mutated, tokens_of

SEED = """<?xml version="1.0"?>
<robot name="r">
<link name="a"/><link name="b"/><link name="c"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<origin xyz="1 2 3" rpy="0 0 1"/><axis xyz="0 1 1"/>
<limit lower="-1" upper="1" effort="1" velocity="2"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1"/><mimic joint="j" multiplier="2" offset="1"/></joint>
<loop_joint name="l" type="revolute"><link1 link="c" xyz="0 0 1"/><link2 link="a"/>
<axis xyz="0 0 1"/></loop_joint>
<transmission name="t"><joint name="j"/></transmission>
</robot>"""
YAML = """closures:
  - name: leg0
    frame_a: {link: c, xyz: [0, 0, 0], rpy: [0, 0, 0]}
    frame_b: {link: a, xyz: [0.19, -0.23, 0]}
    type: distance
    distance: 0.3
    tolerance: 1.0e-6
    enabled: true
couplings:
  - {joint: k, of: j, coefficients: [0, 1]}
actuated: [j, k]
"""
ODD = [
    *tokens_of(SEED + YAML),
    *('nan', 'inf', '-inf', '1e400', '1e-400', '0', '-1', '9' * 400, '0x1', '1_0', 'é', '\x00'),
    *('<', '>', '</robot>', '<robot>', '<!--', '-->', '<![CDATA[', '&amp;', '&x;', '<limit/>'),
    *('floating', 'planar', 'fixed', 'ball', 'world', '<mimic joint="k"/>', '"', "'", '\t', '~'),
    *('&a', '*a', '!!binary', '? ', ': ', '{', '[', '|', '%', '2001-01-01', 'X X', '.nan', '<<'),
]


def test_the_seeds_are_valid():
    """The texts that are mutated are themselves read."""
    assert len(read_description(SEED).closures) == 1
    assert len(read_description(SEED, closures=YAML).closures) == 1


@settings(max_examples=300, deadline=None)
@given(mutated(SEED, ODD), st.sampled_from(['fixed', 'floating']), st.booleans())
def test_mutated_urdf_is_read_or_refused(text, root, trim):
    """A URDF with some tokens changed."""
    check(read_description, '<' + text.lstrip('<'), root=root, trim_unused=trim)


@settings(max_examples=300, deadline=None)
@given(mutated(YAML, ODD))
def test_mutated_annotations_are_read_or_refused(text):
    """Annotations with some tokens changed."""
    check(read_description, SEED, closures=text + '\n')


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=300))
def test_garbage_bytes_are_refused(data, tmp_path_factory):
    """A file of any bytes, as description and as annotations."""
    path = tmp_path_factory.getbasetemp() / 'garbage'
    path.write_bytes(data)
    check(read_description, path)
    check(read_description, SEED, closures=path)


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=100))
def test_garbage_text_is_refused(text):
    """Any text, as description and as annotations."""
    check(read_description, '<' + text)
    check(read_description, '<robot name="r">' + text + '<link name="a"/></robot>')
    check(read_description, SEED, closures=text + '\n')


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KEYS = [
    'closures',
    'couplings',
    'actuated',
    'name',
    'frame_a',
    'frame_b',
    'link',
    'xyz',
    'rpy',
    'dof',
    'type',
    'joint',
    'of',
]


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(KEYS),
        json_values | st.lists(st.dictionaries(st.sampled_from(KEYS), json_values), max_size=3),
    )
)
def test_any_dict_is_read_or_refused(closures):
    """A dict of any shape as annotations."""
    check(read_description, SEED, closures=closures)


@pytest.mark.parametrize('text', ['<', '<!', '<?', '<a', '<robot', '<robot/>', '<\x00', '<robot>'])
def test_truncated_urdf_is_refused(text):
    """The first bytes of a description alone."""
    check(read_description, text)
