"""Which files beside a description are read for its loops, and which are left alone."""

import json
from shutil import rmtree

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
import pytest

ROBOT = (
    '<robot name="r"><link name="base"/><link name="left"/><link name="right"/>'
    '<joint name="l" type="continuous"><parent link="base"/><child link="left"/></joint>'
    '<joint name="r" type="continuous"><parent link="base"/><child link="right"/></joint></robot>'
)
OWN = 'closures: [{name: own, frame_a: left, frame_b: right}]\n'
GEPETTO = "closed_loop: [['left', 'r']]\ntype: ['3d']\nname_mot: ['l']\n"
CAD = 'closures:\n- {link_a: left, link_b: right, point: [0, 0, 0]}\nindependent: [l]\n'
PINS = 'pin_loops:\n- {parent: left, child: right, axis: [0, 0, 1]}\n'
FUSION = """
closing_joints:
  - {name: pin, type: revolute, parent: left, child: right, axis: [0, 0, 1], source: user_tag}
joints:
  l: {type: continuous, passive: false}
  r: {type: continuous, passive: true}
"""
DIALECTS = {
    FUSION: ('pin', 'robot_data YAML'),
    OWN: ('own', 'closures YAML'),
    GEPETTO: ('left__r', 'Gepetto YAML'),
    CAD: ('left__right', 'loop_closures YAML'),
    PINS: ('left__right', 'loop_closures YAML'),
}


@pytest.fixture
def read(tmp_path):
    """Return a reader of the robot, with files put beside it: name -> text; None is a folder."""

    def read_beside(files, path='urdf/arm.urdf', robot=ROBOT):
        rmtree(tmp_path / 'pkg', ignore_errors=True)
        for name, text in {path: robot, **files}.items():
            place = tmp_path / 'pkg' / name
            (place.parent if text is not None else place).mkdir(parents=True, exist_ok=True)
            if text is not None:
                place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_description(tmp_path / 'pkg' / path)

    return read_beside


FOUND = {
    'urdf/arm.closures.yaml': (OWN, CAD, GEPETTO, PINS, FUSION),
    'urdf/arm.yaml': (GEPETTO,),
    'urdf/robot.yaml': (GEPETTO,),
    'urdf/loop_closures.yaml': (CAD, PINS),
    'config/loop_closures.yaml': (CAD, PINS),
    'loop_closures.yaml': (CAD, PINS),
    'urdf/robot_data.yaml': (FUSION,),
    'robot_data.yaml': (FUSION,),
}


@pytest.mark.parametrize(
    ('name', 'text'), [(name, text) for name, texts in FOUND.items() for text in texts]
)
def test_sidecar_is_found(read, name, text):
    """Each place, with every dialect that it may hold."""
    description = read({name: text})
    closure, dialect = DIALECTS[text]
    assert list(description.closures) == [closure]
    assert description.dialect == f'URDF + {dialect}'


def test_first_sidecar_in_order_is_read(read):
    """Of all that is there the first is read."""
    names = list(FOUND)
    for first in range(len(names)):
        files = {name: FOUND[name][0].replace('left', 'right') for name in names[first + 1 :]}
        description = read({names[first]: FOUND[names[first]][0], **files})
        assert list(description.closures) == [DIALECTS[FOUND[names[first]][0]][0]]


def test_file_of_other_content_is_skipped(read):
    """A place that holds something else is passed over for the next one."""
    other = 'joints: [a]\n'
    (closure,) = read({'urdf/arm.yaml': other, 'urdf/robot.yaml': GEPETTO}).closures
    assert closure == 'left__r'
    (closure,) = read({'urdf/robot.yaml': other, 'config/loop_closures.yaml': CAD}).closures
    assert closure == 'left__right'


def test_other_endings_are_found(read):
    """Upper-case endings, and names with a further ending."""
    assert read({'urdf/arm.closures.yaml': OWN}, 'urdf/arm.URDF').closures
    assert read({'a.urdf.closures.yaml': OWN}, 'a.urdf.xacro').closures
    assert read({'b.closures.yaml': OWN}, 'b.urdf.xacro').closures
    assert read({'c.yaml': GEPETTO}, 'c.urdf.xacro').closures


def test_json_byte_order_mark_and_crlf_are_read(read):
    """JSON is YAML; a byte order mark and the ends of lines change nothing."""
    content = {'closed_loop': [['left', 'r']], 'type': ['3d'], 'name_mot': []}
    assert read({'urdf/arm.yaml': json.dumps(content, indent=2)}).closures
    assert read({'urdf/arm.yaml': json.dumps(content)}).closures
    assert read({'urdf/arm.yaml': '\ufeff' + GEPETTO}).closures
    assert read({'urdf/arm.yaml': GEPETTO.replace('\n', '\r\n')}).closures


LEFT_ALONE = {
    'another meaning': 'closed_loop: true\ncontroller: {p: 1}\n',
    'deeper': 'params:\n  closed_loop: [[a, b]]\n  x: !mine y\n',
    'other keys': 'tasks: {}\ncondaConfigFile: conda.yaml\n',
    'our keys': 'closures: []\n',
    'a list': '- closed_loop\n',
    'text': 'closed_loop\n',
    'template': 'name: {{ robot }}\nlist: [\n',
    'tags': '!mine\na: 1\n',
    'binary': b'\xff\x00\xfe\x80closed',
    'large': 'closed_loop: [[left, r]]\ntype: [3d]\n' + '#\n' * 600_000,
    'lines': '\n' * 1_000_000,
    'empty': '',
}


@pytest.mark.parametrize('case', LEFT_ALONE)
@pytest.mark.parametrize('name', [name for name in FOUND if 'arm.closures' not in name])
def test_unrelated_files_are_not_read(read, name, case):
    """A file of such a name that is something else does not break the load."""
    description = read({name: LEFT_ALONE[case]})
    assert description.dialect == 'URDF'
    assert description.closures == {}


def test_folder_with_name_of_sidecar_is_ignored(read):
    """A folder of such a name is not a file."""
    assert read(dict.fromkeys(FOUND)).closures == {}


@pytest.mark.parametrize(
    ('name', 'text'),
    [
        ('robot.yaml', GEPETTO),
        ('loop_closures.yaml', CAD),
        ('loop_closures.yaml', PINS),
        ('robot_data.yaml', FUSION),
    ],
)
def test_sidecar_of_another_robot_is_not_used(read, name, text):
    """A file not named after the robot is left out where it ties nothing of it; that is said."""
    description = read({f'urdf/{name}': text.replace('left', 'hand')})
    assert description.closures == {}
    assert description.actuated == []
    assert description.dialect == 'URDF'
    assert f'{name}: it is not used, as none of its loops connects' in description.notes[-1]


FAULTS = {
    'urdf/arm.closures.yaml': ('closures:\n- {frame_a: left}\n', 2, 'frame_b is missing'),
    'urdf/arm.yaml': ('type: [3d]\nclosed_loop: [[left, hand]]\n', 2, "no link or joint 'hand'"),
    'urdf/robot.yaml': ('closed_loop: [[left, r], [left, x]]\ntype: [3d, 3d]\n', 1, "joint 'x'"),
    'urdf/loop_closures.yaml': (CAD + '  x\n', 4, 'not valid YAML'),
    'config/loop_closures.yaml': (CAD.replace('point', 'pint'), 2, "the key 'pint' is not known"),
    'loop_closures.yaml': (PINS.replace('0, 1', '0, 0'), 2, 'has no direction'),
}


@pytest.mark.parametrize('name', FAULTS)
def test_faults_in_a_sidecar_are_errors(read, name):
    """A fault in a file that is clearly meant is an error with the file and the line."""
    text, line, message = FAULTS[name]
    with pytest.raises(DescriptionError) as caught:
        read({name: text})
    assert message in str(caught.value)
    assert caught.value.source.endswith(name.rpartition('/')[2])
    assert caught.value.line == line


def test_loops_in_both_files_are_used(read):
    """Loops declared inside stay; one of a sidecar that has the same name gets another."""
    own = '<loop_joint name="left__r" type="spherical"><link1 link="left"/><link2 link="base"/>'
    robot = ROBOT.replace('</robot>', own + '</loop_joint></robot>')
    description = read({'urdf/arm.yaml': GEPETTO}, robot=robot)
    assert sorted(description.closures) == ['left__r', 'left__r_2']
    assert description.closures['left__r_2'].parent.name == 'right'
    assert description.dialect == 'URDF + loop_joint + Gepetto YAML'


def test_text_reads_no_sidecar(read, tmp_path, monkeypatch):
    """Only a path has a place beside it, where nothing is looked for if annotations are given."""
    read({'urdf/arm.closures.yaml': OWN})
    monkeypatch.chdir(tmp_path / 'pkg/urdf')
    assert read_description(ROBOT).closures == {}
    assert list(read_description('arm.urdf').closures) == ['own']
    assert read_description('arm.urdf', closures={}).closures == {}


@pytest.mark.parametrize('text', DIALECTS)
def test_given_annotations_replace_the_sidecar(read, tmp_path, text):
    """Given as path, text or with a one-line text, every dialect; nothing beside is read then."""
    read({'urdf/arm.closures.yaml': OWN})
    (tmp_path / 'given.yaml').write_text(text)
    closure, dialect = DIALECTS[text]
    for closures in (tmp_path / 'given.yaml', str(tmp_path / 'given.yaml'), text):
        for source in (tmp_path / 'pkg/urdf/arm.urdf', ROBOT):
            description = read_description(source, closures=closures)
            assert list(description.closures) == [closure]
            assert description.dialect == f'URDF + {dialect}'


def test_one_line_texts_are_recognised():
    """A text of one line is told from a path by its beginning."""
    for text in (
        'closed_loop: [[left, r]]',
        '{name_mot: [l], closed_loop: [[left, r]]}',
        'pin_loops: [{parent: left, child: right, axis: [0, 0, 1]}]',
        'dependent: []',
        'independent: [l]',
        'name_mot: [l]',
    ):
        read_description(ROBOT, closures=text)
