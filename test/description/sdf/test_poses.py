"""Where links, joints and frames of an SDFormat file stand, and how joints move them."""

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
import numpy as np
import pytest
from support.robot_texts import sdf, sdf_joint

HALF = np.pi / 2


def rotation(axis, angle):
    """Return the 4x4 of a turn about x, y or z."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(4)
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


def shift(x, y, z):
    """Return the 4x4 of a shift."""
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def where(description, link):
    """Return the 4x4 pose of a link in the world."""
    return description.links[link].matrix_world


def test_links_stand_where_they_are_written():
    """With all joints at 0, model pose and link poses alone say where links are."""
    text = sdf(
        '<pose>1 2 3 0 0 0</pose>'
        '<link name="a"><pose>0 0 0.5 0 0 1.5707963267948966</pose></link>'
        '<link name="b"><pose>1 0 0 0.1 0.2 0.3</pose></link>'
        + sdf_joint('j', 'a', 'b', '<pose>0.3 0.2 0.1 1 2 3</pose>', xyz='1 2 3')
    )
    description = read_description(text)
    np.testing.assert_allclose(
        where(description, 'a'), shift(1, 2, 3.5) @ rotation(2, HALF), atol=1e-12
    )
    turn = rotation(2, 0.3) @ rotation(1, 0.2) @ rotation(0, 0.1)
    np.testing.assert_allclose(where(description, 'b'), shift(2, 2, 3) @ turn, atol=1e-12)


def test_a_joint_is_posed_in_its_child():
    """The axis goes through the joint's <pose>, counted in the child link."""
    text = sdf(
        '<link name="a"/><link name="b"><pose>1 0 0 0 1.5707963267948966 0</pose></link>'
        + sdf_joint('j', 'a', 'b', '<pose>0 0 0.5 0 0 0</pose>', xyz='1 0 0')
    )
    description = read_description(text)
    description.joints['j'].set_dof_values(0.7)
    child = shift(1, 0, 0) @ rotation(1, HALF)
    moved = child @ shift(0, 0, 0.5) @ rotation(0, 0.7) @ shift(0, 0, -0.5)
    np.testing.assert_allclose(where(description, 'b'), moved, atol=1e-12)


@pytest.mark.parametrize(
    ('version', 'inner', 'attribute', 'axis'),
    [
        ('1.9', '', '', 0),
        ('1.5', '', '', 0),
        ('1.4', '', '', 2),
        ('1.3', '', '', 2),
        ('1.6', '<use_parent_model_frame>1</use_parent_model_frame>', '', 2),
        ('1.6', '<use_parent_model_frame>0</use_parent_model_frame>', '', 0),
        ('1.7', '<use_parent_model_frame>1</use_parent_model_frame>', '', 0),
        ('1.10', '', ' expressed_in="__model__"', 2),
        ('1.7', '', ' expressed_in="a"', 1),
        ('1.12', '', ' expressed_in="f"', 2),
    ],
)
def test_axis_is_read_in_the_frame_it_refers_to(version, inner, attribute, axis):
    """The axis z, in the joint's frame, the model's or a named one; the child lies on its side."""
    text = sdf(
        '<link name="a"><pose>0 0 0 -1.5707963267948966 0 0</pose></link>'
        '<link name="b"><pose>0 0 0 0 1.5707963267948966 0</pose></link><frame name="f"/>'
        '<joint name="j" type="revolute"><parent>a</parent><child>b</child>'
        f'<axis><xyz{attribute}>0 0 1</xyz>{inner}</axis></joint>',
        version,
    )
    description = read_description(text)
    start = where(description, 'b').copy()
    description.joints['j'].set_dof_values(0.4)
    expected = rotation(axis, 0.4) @ start
    np.testing.assert_allclose(where(description, 'b'), expected, atol=1e-12)
    ignored = any('<use_parent_model_frame> ended' in note for note in description.notes)
    assert ignored == (version == '1.7' and bool(inner))


POSES = {
    '<pose/>': np.eye(4),
    '<pose>1 2 3 0 0 0</pose>': shift(1, 2, 3),
    '<pose>\n 1\t2 3\n0 0 1.5707963267948966 </pose>': shift(1, 2, 3) @ rotation(2, HALF),
    '<pose degrees="true">1 2 3 90 0 0</pose>': shift(1, 2, 3) @ rotation(0, HALF),
    '<pose degrees="false">1 2 3 0 1.5707963267948966 0</pose>': shift(1, 2, 3)
    @ rotation(1, HALF),
    '<pose rotation_format="quat_xyzw">1 2 3 0 0 2 2</pose>': shift(1, 2, 3) @ rotation(2, HALF),
    '<pose rotation_format="quat_xyzw"/>': np.eye(4),
    '<pose rotation_format="euler_rpy" degrees="1">0 0 0 0 0 90</pose>': rotation(2, HALF),
    '<pose relative_to="base">1 0 0 0 0 0</pose>': shift(1, 0, 5),
    '<pose relative_to="up">1 0 0 0 0 0</pose>': shift(1, 0, 6),
    '<pose relative_to="j">0 0 1 0 0 0</pose>': shift(0, 1, 5)
    @ rotation(0, HALF)
    @ shift(0, 0, 1),
}


@pytest.mark.parametrize('pose', POSES)
def test_every_pose_notation_is_read(pose):
    """Angles in either unit, quaternions of any length, relative to link, frame or joint."""
    text = sdf(
        '<link name="base"><pose>0 0 5 0 0 0</pose></link>'
        '<frame name="up" attached_to="base"><pose>0 0 1 0 0 0</pose></frame>'
        f'<link name="x">{pose}</link><link name="c"/>'
        + sdf_joint(
            'j', 'base', 'c', '<pose relative_to="base">0 1 0 1.5707963267948966 0 0</pose>'
        )
    )
    np.testing.assert_allclose(where(read_description(text), 'x'), POSES[pose], atol=1e-12)


def test_attribute_frame_is_read_as_relative_to():
    """Up to 1.6 it was `frame`; later that is no attribute any more."""
    for version, z in (('1.6', 3.0), ('1.7', 1.0)):
        text = sdf(
            '<link name="a"><pose>0 0 2 0 0 0</pose></link>'
            '<link name="b"><pose frame="a">0 0 1 0 0 0</pose></link>',
            version,
        )
        assert where(read_description(text), 'b')[2, 3] == z


def test_frames_are_links_of_their_own():
    """A frame on a frame moves with the link at its end; a goal may name it."""
    text = sdf(
        '<link name="a"/><link name="b"><pose>1 0 0 0 0 0</pose></link>'
        '<frame name="f" attached_to="b"><pose>0 0.5 0 0 0 0</pose></frame>'
        '<frame name="g" attached_to="f"><pose relative_to="__model__">2 0 0 0 0 0</pose></frame>'
        '<frame name="m"/>' + sdf_joint('j', 'a', 'b')
    )
    description = read_description(text)
    assert list(description.links) == ['a', 'b', 'f', 'g', 'm']
    assert [joint.name for joint in description.joint_order] == ['j']
    description.joints['j'].set_dof_values(HALF)
    np.testing.assert_allclose(where(description, 'f')[:3, 3], [0.5, 0, 0], atol=1e-12)
    np.testing.assert_allclose(where(description, 'g')[:3, 3], [1, 1, 0], atol=1e-12)
    assert description.links['g'].parent.parent is description.links['b']
    assert description.links['m'].parent.parent is description.links['a']  # the canonical link


def test_joint_between_frames_keeps_link_poses():
    """Ends that name frames stand for the links that carry them; the joint is at the child's."""
    text = sdf(
        '<link name="a"/><link name="b"><pose>1 0 0 0 0 0</pose></link>'
        '<frame name="f" attached_to="b"><pose>0 1 0 0 0 0</pose></frame>'
        '<frame name="e" attached_to="a"><pose>1 1 0 0 0 0</pose></frame>'
        + sdf_joint('j', 'e', 'f')
    )
    description = read_description(text)
    description.joints['j'].set_dof_values(HALF)
    np.testing.assert_allclose(where(description, 'b')[:3, 3], [2, 1, 0], atol=1e-12)
    assert not [note for note in description.notes if 'away' in note]
    apart = read_description(text.replace('>1 1 0 0 0 0<', '>1 3 0 0 0 0<'))
    (note,) = [note for note in apart.notes if 'away' in note]
    assert "its parent frame 'e' is 2 m away from it at the poses in the file" in note


def test_nested_models_are_read():
    """Names get the models' before them; each model has poses and an axis frame of its own."""
    text = sdf(
        '<link name="base"/><model name="arm"><pose>0 0 1 1.5707963267948966 0 0</pose>'
        '<link name="base"/><link name="tip"><pose>1 0 0 0 0 0</pose></link>'
        + sdf_joint('turn', 'base', 'tip')
        + '<model name="hand"><pose relative_to="tip">0 1 0 0 0 0</pose><link name="palm"/>'
        '<frame name="grip"><pose>0 0 1 0 0 0</pose></frame></model>'
        '<joint name="mount" type="fixed"><parent>tip</parent><child>hand::palm</child></joint>'
        '</model>'
        '<joint name="hold" type="fixed"><parent>base</parent><child>arm</child></joint>'
        '<frame name="there" attached_to="arm::hand::grip"/>'
    )
    description = read_description(text)
    assert list(description.links) == [
        *('base', 'arm::base', 'arm::tip', 'arm::hand::palm', 'arm::hand::grip', 'there')
    ]
    assert set(description.joints) >= {'arm::turn', 'arm::mount', 'hold'}
    assert [root.name for root in description.roots] == ['base']
    description.joints['arm::turn'].set_dof_values(HALF)
    arm = shift(0, 0, 1) @ rotation(0, HALF)
    palm = arm @ shift(1, 0, 0) @ rotation(2, HALF) @ shift(0, 1, 0)
    np.testing.assert_allclose(where(description, 'arm::hand::palm'), palm, atol=1e-12)
    np.testing.assert_allclose(where(description, 'there'), palm @ shift(0, 0, 1), atol=1e-12)


def test_placement_frame_is_used():
    """The model's pose puts that frame there, not the model's own."""
    content = (
        '<pose>5 0 0 0 0 0</pose><link name="a"/><link name="b"><pose>0 2 0 0 0 0</pose></link>'
        '<frame name="f" attached_to="b"><pose>0 0 1 0 0 1.5707963267948966</pose></frame>'
    )
    description = read_description(sdf(content, attributes=' placement_frame="f"'))
    np.testing.assert_allclose(where(description, 'f'), shift(5, 0, 0), atol=1e-12)
    inner = f'<link name="w"/><model name="i" placement_frame="b">{content}</model>'
    nested = read_description(sdf(inner))
    np.testing.assert_allclose(where(nested, 'i::a'), shift(5, -2, 0), atol=1e-12)


def test_models_of_a_world_are_read():
    """The one model of a world that can be meant; it stands where the world puts it."""
    text = (
        '<sdf version="1.9"><world name="w"><include><uri>model://sun</uri></include>'
        '<frame name="table"><pose>0 0 1 0 0 0</pose></frame>'
        '<model name="ground"><static>true</static><link name="plane"/></model>'
        '<model name="arm"><pose relative_to="table">2 0 0 0 0 0</pose><link name="a"/>'
        '<link name="b"/>' + sdf_joint('j', 'a', 'b') + '</model></world></sdf>'
    )
    description = read_description(text)
    assert description.name == 'arm'
    assert list(description.links) == ['a', 'b']
    assert "of several models 'arm' is read, not 'ground'" in description.notes
    np.testing.assert_allclose(where(description, 'b'), shift(2, 0, 1), atol=1e-12)


def test_a_world_with_joints_is_one_robot():
    """Joints between models of a world join them; names get the models' before them."""
    one = '<model name="{}"><link name="a"/></model>'
    joint = '<joint name="j" type="fixed"><parent>p::a</parent><child>q::a</child></joint>'
    joint += '<joint name="k" type="fixed"><parent>world</parent><child>p</child></joint>'
    text = f'<sdf version="1.10"><world name="w">{one.format("p")}{one.format("q")}{joint}</world>'
    description = read_description(text + '</sdf>')
    assert description.name == 'w'
    assert list(description.links) == ['p::a', 'q::a', 'world']
    assert [root.name for root in description.roots] == ['world']
    single = f'<sdf version="1.10"><world name="w">{one.format("p")}'
    single += '<joint name="k" type="fixed"><parent>world</parent><child>p::a</child></joint>'
    assert list(read_description(single + '</world></sdf>').links) == ['a', 'world']


def test_root_keeps_its_pose():
    """The world where a joint names it, else the first link without a parent."""
    links = '<link name="a"/><link name="b"/><link name="c"/>'
    inside = sdf(links + sdf_joint('j', 'b', 'a') + sdf_joint('k', 'c', 'a'))
    description = read_description(inside)
    assert [root.name for root in description.roots] == ['b']
    assert description.links['c'].parent is description.joints['k']  # hung the other way round
    held = read_description(sdf(links + sdf_joint('j', 'b', 'a') + sdf_joint('k', 'world', 'a')))
    assert [root.name for root in held.roots] == ['world', 'c']
    assert 'links without a parent' in held.notes[-1]


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
