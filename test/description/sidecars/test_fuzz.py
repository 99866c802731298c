"""Whatever a sidecar's bytes: an IkError or a valid description, never another exception."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.description.read import read_description
import pytest
from support.any_text import check, mutated, tokens_of

ROBOT = (
    '<robot name="r">'
    + ''.join(f'<link name="{name}"/>' for name in 'abcd')
    + ''.join(
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="1 2 3" rpy="0 1 0"/><axis xyz="0 1 1"/>{inside}</joint>'
        for name, kind, parent, child, inside in (
            ('j', 'continuous', 'a', 'b', ''),
            ('k', 'continuous', 'b', 'c', '<mimic joint="j" multiplier="2"/>'),
            ('f', 'fixed', 'a', 'd', ''),
        )
    )
    + '</robot>'
)
SEEDS = {
    'gepetto': """closed_loop: [['c', 'f'], ["d", 'k']]
type: ['6d', '3D']
name_mot:
  [
    "j", # the motor
    "k_X",
  ]
joint_name: [k, 'f']
joint_type: [UJOINT_XY, 'SPHERICAL']
""",
    'loop closures': """closures:
- {link_a: c, link_b: d, point: [0.5, 1.0e-3, -2], axis: &z [0.0, 0.0, 1.0]}
- link_a: c
  link_b: world
  point: [1, 2, 3]
dependent: [k]
independent: [j]
pin_loops:
- {name: p, parent: c, child: d, parent_xyz: [0, 0, 1], child_xyz: [1, 0, 0], axis: *z}
ball_loops:
- {name: q, parent: a, child: d, parent_xyz: [0, 0, 1], child_xyz: [1, 0, 0]}
ball_upgrades: [f]
actuated_joints: [j]
""",
}
ODD = [
    *tokens_of(''.join(SEEDS.values())),
    *(
        '.nan',
        '.inf',
        '1e400',
        '9' * 400,
        '0x1',
        '1_0',
        '1:59',
        '2001-99-99',
        '-0',
        'é',
        '\x00',
        '\ud800',
    ),
    *(
        '~',
        'null',
        'yes',
        '!!python/tuple',
        '!!set',
        '!x',
        '&z',
        '*z',
        '<<',
        '? ',
        '---',
        '...',
        '|',
        '>',
    ),
    *(
        '{}',
        '[]',
        '""',
        '[[',
        '}',
        '%',
        '@',
        '`',
        '\t',
        'FIXED',
        'UJOINT_XX',
        'UJOINT_ZY',
        'k_Y',
        'world',
    ),
]
KEYS = sorted(set(re.findall(r'(\w+):', ''.join(SEEDS.values()))))


def read(source, closures):
    """Read; messages may be longer, as they name names of either file."""
    check(read_description, source, closures=closures, longest=3000)


@pytest.mark.parametrize('dialect', SEEDS)
def test_the_seeds_are_valid(dialect):
    """The texts that are mutated are themselves read."""
    description = read_description(ROBOT, closures=SEEDS[dialect])
    assert len(description.closures) == {'gepetto': 2, 'loop closures': 4}[dialect]


@settings(max_examples=300, deadline=None)
@given(mutated(SEEDS['gepetto'], ODD))
def test_mutated_gepetto_is_read_or_refused(text):
    """Gepetto's file with some tokens changed."""
    read(ROBOT, text + '\n')


@settings(max_examples=300, deadline=None)
@given(mutated(SEEDS['loop closures'], ODD))
def test_mutated_loop_closures_are_read_or_refused(text):
    """A loop_closures.yaml with some tokens changed."""
    read(ROBOT, text + '\n')


names = st.sampled_from(
    ['a', 'b', 'c', 'd', 'j', 'k', 'f', 'k_X', 'world', '6d', '3d', 'SPHERICAL']
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | names,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), values))
def test_any_dict_is_read_or_refused(closures):
    """A dict of any shape."""
    read(ROBOT, closures)


ends = st.tuples(names, names).map(list)
types = st.lists(st.sampled_from(['SPHERICAL', 'FIXED', 'UJOINT_XY', 'UJOINT_ZX']), max_size=3)


@settings(max_examples=300, deadline=None)
@given(st.lists(ends, max_size=4), st.lists(names, max_size=3), st.lists(names, max_size=3), types)
def test_any_names(pairs, motors, joints, joint_types):
    """Gepetto's file of the right shape with any names in it."""
    content = {'closed_loop': pairs, 'type': ['3d'] * len(pairs), 'name_mot': motors}
    read(ROBOT, {**content, 'joint_name': joints, 'joint_type': joint_types})


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with the robot in it, for files beside it."""
    place = tmp_path_factory.mktemp('fuzz')
    (place / 'r.urdf').write_text(ROBOT)
    return place


@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(['r.yaml', 'robot.yaml', 'loop_closures.yaml', 'r.closures.yaml']),
    data=st.binary(max_size=100)
    | mutated(SEEDS['gepetto'], ODD).map(lambda text: text.encode('utf-8', 'surrogatepass'))
    | mutated(SEEDS['loop closures'], ODD).map(lambda text: text.encode('utf-8', 'surrogatepass')),
)
def test_any_file_beside_is_read_or_ignored(folder, name, data):
    """Any bytes in a file that is looked for."""
    (folder / name).write_bytes(data)
    read(folder / 'r.urdf', None)
    (folder / name).unlink()
