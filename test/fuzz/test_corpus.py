"""Whatever the text: an IkError or a valid robot, never another exception."""

from copy import deepcopy
import re
from xml.etree.ElementTree import fromstring, tostring

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.description.read import read_description
from judging import FAILURES, judge, ROBOT, SEEDS
import pytest
from support.any_text import check, mutated, tokens_of

DIALECTS = sorted(path.name for path in SEEDS.iterdir())
TEXTS = {name: (SEEDS / name).read_text() for name in DIALECTS}
ODD = [
    *('nan', 'inf', '-inf', '1e400', '1e-400', '0', '-1', '9' * 400, '0x1', '1_0', 'é', '\x00'),
    *('<', '>', '</robot>', '<!--', '-->', '<![CDATA[', '&amp;', '&x;', '<limit/>', '"', "'", '~'),
    *('floating', 'planar', 'fixed', 'ball', 'free', 'world', '__model__', 'm::d', '0 0 0', '1 1'),
    *('<include file="."/>', '<frame>', '<attach/>', 'count="99999"', 'class="c"', '\ud800'),
    *('&a', '*a', '!!binary', '? ', ': ', '{', '[', '[[', '|', '2001-01-01', 'X X', '.nan', '<<'),
]
KEYS = sorted(set(re.findall(r'(\w+):', ''.join(TEXTS[n] for n in TEXTS if n.endswith('yaml')))))
NAMES = st.sampled_from(['a', 'b', 'c', 'm', 'm::a', 'world', '__model__', 'f', 'j', 'k_X', ''])


def read(dialect, text):
    if dialect.endswith('.yaml'):
        # Messages may be longer, because they have names of either file.
        check(read_description, ROBOT, closures=text + '\n', longest=3000)
    else:
        check(read_description, '<' + text.lstrip('<\ufeff \t\r\n'))


def test_every_fuzz_seed_is_a_robot():
    for dialect in DIALECTS:
        assert judge(dialect, (SEEDS / dialect).read_bytes())


@pytest.mark.parametrize('failure', sorted(path.name for path in FAILURES.glob('*-*-*')))
def test_past_failure_is_refused_or_sound_robot(failure):
    judge(failure.split('-')[0], (FAILURES / failure).read_bytes())


@pytest.mark.parametrize('dialect', DIALECTS)
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mutated_seed_is_read_or_refused(dialect, data):
    odd = [*ODD, *tokens_of(TEXTS[dialect])]
    read(dialect, data.draw(mutated(TEXTS[dialect], odd)))


@pytest.mark.parametrize('dialect', [name for name in DIALECTS if not name.endswith('.yaml')])
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_edited_seed_is_read_or_refused(dialect, data):
    """A seed with attributes of other elements, and elements dropped, doubled or moved."""
    text = re.sub(r'(</?)drake:', r'\1drake-', TEXTS[dialect])
    root = fromstring(text)
    attributes = [item for element in root.iter() for item in element.attrib.items()]
    for _ in range(data.draw(st.integers(1, 5))):
        elements = list(root.iter())
        element, other = (data.draw(st.sampled_from(elements)) for _ in range(2))
        parent = next((each for each in elements if element in list(each)), None)
        how = data.draw(st.sampled_from(['set', 'drop', 'double', 'move']))
        if how == 'set' or parent is None:
            name, value = (data.draw(st.sampled_from(attributes))[at] for at in range(2))
            element.set(name, value)
        elif how == 'double':
            parent.append(deepcopy(element))
        else:
            parent.remove(element)
            if how == 'move' and other in list(root.iter()):
                other.append(element)
    read(dialect, tostring(root, encoding='unicode').replace('drake-', 'drake:'))


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=300))
def test_any_bytes_are_refused(data, tmp_path_factory):
    """A file of any bytes, as description, as annotations, and beside a robot."""
    folder = tmp_path_factory.getbasetemp()
    (folder / 'r.urdf').write_text(ROBOT)
    for name in ('r.closures.yaml', 'robot.yaml', 'garbage'):
        path = folder / name
        path.write_bytes(data)
        check(read_description, folder / 'r.urdf')
        check(read_description, ROBOT, closures=path)
        check(read_description, path)
        path.unlink()


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=100), tag=st.sampled_from(['robot', 'sdf', 'mujoco', 'worldbody']))
def test_any_text_is_refused(text, tag):
    check(read_description, '<' + text)
    inside = f'<mujoco><{tag}>{text}</{tag}></mujoco>' if tag == 'worldbody' else ''
    check(read_description, inside or f'<{tag} name="r">{text}<link name="a"/></{tag}>')
    check(read_description, ROBOT, closures=text + '\n')


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), values))
def test_any_dict_is_read_or_refused(closures):
    check(read_description, ROBOT, closures=closures, longest=3000)


@st.composite
def models(draw, depth=0):
    parts = []
    for _ in range(draw(st.integers(0, 6))):
        tag = draw(st.sampled_from(('link', 'frame', 'joint', 'model', 'drake:joint')))
        inner = f'<pose relative_to="{draw(NAMES)}">1 2 3 0.1 0.2 0.3</pose>'
        if tag == 'model':
            inner += draw(models(depth + 1)) if depth < 3 else ''
        elif 'joint' in tag:
            inner += f'<parent>{draw(NAMES)}</parent><child>{draw(NAMES)}</child><axis>'
            inner += f'<mimic joint="{draw(NAMES)}"/></axis>'
            inner += f'<gearbox_reference_body>{draw(NAMES)}</gearbox_reference_body>'
        kinds = ('revolute', 'ball', 'screw', 'universal', 'fixed', 'gearbox', 'planar')
        parts.append(
            f'<{tag} name="{draw(NAMES)}" type="{draw(st.sampled_from(kinds))}" '
            f'attached_to="{draw(NAMES)}" placement_frame="{draw(NAMES)}" '
            f'canonical_link="{draw(NAMES)}">{inner}</{tag}>'
        )
    return ''.join(parts)


@settings(max_examples=150, deadline=None)
@given(models(), st.sampled_from(('1.4', '1.6', '1.9', '1.12')))
def test_any_graph_of_frames_is_read_or_refused(content, version):
    text = f'<sdf version="{version}"><model name="m"><link name="a"/>{content}</model></sdf>'
    check(read_description, text)
