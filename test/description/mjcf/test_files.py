"""MJCFs in several files: <include> and <attach>; and <replicate>."""

import os

from ik_node.description.description import apply_loops
from ik_node.description.mjcf import document as document_module
from ik_node.description.mjcf.reader import read_mjcf
from ik_node.description.read import read_description
from ik_node.description.xml_document import parse_xml
from ik_node.errors import DescriptionError, UnsupportedElementError
from ik_node.model.dof import DOF
import numpy as np
import pytest

MAIN = '<mujoco model="m"><compiler angle="radian"/>{}<worldbody>{}</worldbody>{}</mujoco>'
GRIPPER = """<mujoco model="gripper"><compiler eulerseq="XYZ"/>
<default><joint axis="1 0 0"/><default class="finger"><joint range="0 90"/></default></default>
<worldbody><site name="origin"/><body name="palm" pos="0 0 0.1" euler="0 0 90">
<inertial pos="0 0 1" mass="2"/>
<frame name="f" pos="0.1 0 0" childclass="finger"><body name="left"><joint name="j" ref="30"/>
<site name="sl"/></body></frame>
<body name="right" pos="-0.1 0 0" childclass="finger"><joint name="k"/><site name="sr"/>
<body><joint type="ball"/></body></body></body></worldbody>
<equality><joint joint1="k" joint2="j"/><connect site1="sl" site2="sr"/>
<weld body1="palm" anchor="0 0 0"/></equality><actuator><motor joint="j"/></actuator></mujoco>"""


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write_file(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        return path

    return write_file


def read(path):
    """Return the description of a file, loops in it, read without MuJoCo."""
    description = read_mjcf(parse_xml(path.read_bytes(), str(path)))
    for loops in description.loops:
        apply_loops(loops, description)
    return description


def test_includes_are_expanded(write):
    """What is below the root of the other file stands where the include did."""
    write('parts/leg.xml', '<x><body name="leg"><include file="foot.xml"/></body></x>')
    write('parts/foot.xml', '<x><joint name="j"/><include file="parts/toe.xml"/></x>')
    write('parts/toe.xml', '<x><body name="toe"/></x>')
    write('settings.xml', '<x><default><joint axis="1 0 0"/></default></x>')
    main = MAIN.format('<include file="settings.xml"/>', '<include file="parts/leg.xml"/>', '')
    description = read_description(write('main.xml', main))
    assert list(description.links) == ['world', 'leg', 'toe']
    assert description.joints['j'].dof == [DOF.EX]


def test_file_included_twice_is_read_and_noted(write):
    """Where names do not clash it makes sense, though MuJoCo refuses it."""
    write('geoms.xml', '<x><geom size="1"/></x>')
    include = '<include file="geoms.xml"/>'
    body = f'<body name="a">{include}</body><body name="b">{include}</body>'
    description = read_description(write('main.xml', MAIN.format('', body, '')))
    assert 'included more than once, which MuJoCo does not allow' in description.notes[0]
    assert description.links['a'].mass == description.links['b'].mass > 0.0


def test_fault_in_an_included_file_names_that_file(write):
    """The message names that file and its line."""
    part = write('part.xml', '<x>\n<body name="a">\n<joint axis="0 0 0"/></body></x>')
    main = write('main.xml', MAIN.format('', '<include file="part.xml"/>', ''))
    with pytest.raises(DescriptionError, match='axis="0 0 0" has no direction') as caught:
        read_description(main)
    assert (caught.value.source, caught.value.line) == (str(part), 3)


@pytest.mark.parametrize(
    ('include', 'message'),
    [
        ('<include/>', 'the attribute file'),
        ('<include file="none.xml"/>', "there is no file 'none.xml' in"),
        ('<include file="\x7f"/>', 'there is no file'),
        (f'<include file="{"x" * 5000}"/>', 'there is no file'),
        ('<include file="."/>', "there is no file '.' in"),
        ('<include file="pipe.xml"/>', 'there is no file'),
        ('<include file="main.xml"/>', "the file 'main.xml' includes itself"),
        ('<include file="one.xml"/>', "the file 'one.xml' includes itself"),
        ('<include file="bad.xml"/>', 'not well-formed XML'),
        ('<include file="deep.xml"/>', 'nested more than 300 deep'),
        ('<include file="twice.xml"/>', 'more than 200 files or 300000 elements'),
        ('<include file="locked.xml"/>', "the file 'locked.xml' cannot be read"),
    ],
)
def test_includes_that_are_refused(write, tmp_path, monkeypatch, include, message):
    """By name, and before they take time or memory."""
    write('one.xml', '<x><include file="two.xml"/></x>')
    write('two.xml', '<x><include file="one.xml"/></x>')
    write('bad.xml', '<x>')
    write('deep.xml', '<x>' + '<body>' * 298 + '</body>' * 298 + '</x>')
    for i in range(12):
        write(f'twice{i}.xml', f'<x><include file="twice{i + 1}.xml"/>' * 2 + '</x></x>')
    write('twice.xml', '<x>' + '<include file="part.xml"/>' * 201 + '</x>')
    write('part.xml', '<x/>')
    os.mkfifo(tmp_path / 'pipe.xml')  # reading it would wait for ever
    locked = write('locked.xml', '<x/>')
    main = write('main.xml', MAIN.format('', f'<body name="a">{include}</body>', ''))
    opened = type(locked).open

    def refuse(path, *arguments):
        if path.name == 'locked.xml':
            raise PermissionError(13, 'Permission denied')
        return opened(path, *arguments)

    monkeypatch.setattr(type(locked), 'open', refuse)
    with pytest.raises(DescriptionError, match=message):
        read_description(main)


def test_other_files_are_bounded(write, monkeypatch):
    """All of them together; a text has no folder, so that it has none."""
    monkeypatch.setattr(document_module, 'MAX_BYTES', 100)
    write('part.xml', '<x><geom/>' + ' ' * 60 + '</x>')
    main = MAIN.format('', '<include file="part.xml"/>' * 2, '')
    with pytest.raises(DescriptionError, match='more than 100 bytes in other files'):
        read_description(write('main.xml', main))
    with pytest.raises(DescriptionError, match='a description given as text has no folder'):
        read_description(MAIN.format('<include file="/etc/hostname"/>', '', ''))


ATTACH = '<asset><model name="hand" file="gripper.xml"/></asset>'


def test_whole_model_is_attached(write):
    """Bodies, sites, loops and motors of another file, in a frame of this one."""
    write('gripper.xml', GRIPPER)
    body = """<body name="arm" pos="1 0 0"><joint name="j"/><frame pos="0 0 1">
        <attach model="hand" prefix="h_"/></frame></body>"""
    description = read(write('main.xml', MAIN.format(ATTACH, body, '')))
    assert list(description.links) == [
        *('world', 'arm', 'h_origin', 'h_palm', 'h_left', 'h_sl', 'h_right', 'h_sr', 'body5')
    ]
    assert [joint.name for joint in description.joint_order] == [
        *('j', 'h_j', 'h_k', 'body5_ball')
    ]
    joint = description.joints['h_j']
    assert joint.dof == [DOF.EX]
    limits = joint.min_dof_limit[DOF.EX], joint.max_dof_limit[DOF.EX]
    np.testing.assert_allclose(limits, (0.0, np.pi / 2), rtol=1e-15)
    np.testing.assert_allclose(
        description.links['h_left'].matrix_world,
        [(0, -1, 0, 1), (1, 0, 0, 0.1), (0, 0, 1, 1.1), (0, 0, 0, 1)],
        atol=1e-15,
    )
    assert description.links['h_palm'].mass == 2.0
    assert description.actuated == ['h_j']
    assert list(description.closures) == ['h_sl_sr_connect']
    (coupling,) = description.joints['h_k'].couplings.values()
    assert coupling.master is joint
    np.testing.assert_allclose(coupling.coefficients, (-np.pi / 6, 1.0))
    assert any('equalities with its world are not read' in note for note in description.notes)


def test_one_body_is_attached(write):
    """With all that is in it; of the rest what refers to it alone."""
    write('gripper.xml', GRIPPER)
    attach = '<attach model="hand" body="palm" prefix="h_"/>'
    description = read(write('main.xml', MAIN.format(ATTACH, attach, '')))
    names = ['world', 'h_palm', 'h_left', 'h_sl', 'h_right', 'h_sr', 'body4']
    assert list(description.links) == names
    assert list(description.closures) == ['h_sl_sr_connect']
    assert len(description.joints['h_k'].couplings) == 1
    assert any('equalities with its world' in note for note in description.notes)


def test_one_frame_is_attached(write):
    """It keeps the class that its surroundings say."""
    write(
        'gripper.xml',
        GRIPPER.replace(' childclass="finger"', '').replace(
            'name="palm"', 'name="palm" childclass="finger"'
        ),
    )
    attach = '<attach model="hand" frame="f" prefix="h_"/>'
    description = read(write('main.xml', MAIN.format(ATTACH, attach, '')))
    assert list(description.links) == ['world', 'h_left', 'h_sl']
    assert description.joints['h_j'].max_dof_limit[DOF.EX] == pytest.approx(np.pi / 2)
    assert description.actuated == ['h_j']
    assert len(description.closures) == 0


def test_poses_of_attached_models_equal_those_of_mujoco(write):
    """Poses of all bodies where the model is as written."""
    mujoco = pytest.importorskip('mujoco')
    write('gripper.xml', GRIPPER.replace('<weld body1="palm" anchor="0 0 0"/>', ''))
    body = """<body name="arm" pos="1 0 0"><joint name="j"/><frame pos="0 0 1" euler="1 0 0">
        <attach model="hand" body="palm" prefix="h_"/><attach model="gripper" prefix="g_"/>
        </frame></body>"""
    assets = ATTACH.replace('</asset>', '<model file="gripper.xml"/></asset>')
    path = write('main.xml', MAIN.format(assets, body, ''))
    description = read(path)
    spec = mujoco.MjSpec.from_file(str(path))
    for each in spec.bodies:
        if each.name != 'world':
            each.explicitinertial, each.mass, each.inertia = True, 1.0, [1.0, 1.0, 1.0]
            each.ipos = [0.0, 0.0, 0.0]
    data = mujoco.MjData(spec.compile())
    mujoco.mj_kinematics(data.model, data)
    named = [data.body(i) for i in range(data.model.nbody) if data.body(i).name]
    assert len(named) == 8
    for part in named:
        found = description.links[part.name].matrix_world
        np.testing.assert_allclose(found[:3, 3], part.xpos, atol=1e-14)
        np.testing.assert_allclose(found[:3, :3].ravel(), part.xmat, atol=1e-14)


@pytest.mark.parametrize(
    ('attach', 'kind', 'message'),
    [
        ('<attach body="b" prefix="x"/>', UnsupportedElementError, 'attached once more'),
        ('<attach model="hnd" prefix="x"/>', DescriptionError, "did you mean 'hand'"),
        ('<attach model="hand" body="x"/>', DescriptionError, "there is no body 'x' in"),
        ('<attach model="self"/>', DescriptionError, 'the model is attached to itself'),
        ('<attach model="ring"/>', DescriptionError, 'the model is attached to itself'),
        ('<attach model="deep" prefix="x"/>', DescriptionError, 'nested more than 300 deep'),
        ('<attach model="many"/>', DescriptionError, 'more than 6000 elements by replicas'),
        ('<attach model="none"/>', DescriptionError, "there is no file 'none.xml'"),
    ],
)
def test_attachments_that_are_refused(write, attach, kind, message):
    """By name."""
    write('gripper.xml', GRIPPER)
    asset = '<asset><model name="m" file="{}"/></asset>'
    ring = MAIN.format(asset.format('main.xml'), '<attach model="m"/>', '')
    write('ring.xml', ring)
    write('deep.xml', MAIN.format('', '<body>' * 290 + '</body>' * 290, ''))
    many = '<replicate count="9999"><body/></replicate>'
    write('many.xml', MAIN.format('', many, ''))
    files = {'hand': 'gripper', 'self': 'main', 'ring': 'ring', 'deep': 'deep', 'none': 'none'}
    files['many'] = 'many'
    assets = ''.join(f'<model name="{name}" file="{file}.xml"/>' for name, file in files.items())
    body = '<body>' * 12 + attach + '</body>' * 12
    path = write('main.xml', MAIN.format(f'<asset>{assets}</asset>', body, ''))
    with pytest.raises(kind, match=message):
        read_description(path)


def test_replicas_do_not_run_away():
    """Their offsets add up."""
    text = '<mujoco><worldbody><replicate count="9" offset="1e12 0 0"/></worldbody></mujoco>'
    with pytest.raises(DescriptionError, match='its replicas reach beyond 1e12 m'):
        read_description(text)
