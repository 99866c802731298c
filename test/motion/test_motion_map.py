"""The mapping file: key points become goals of links, and errors name the line."""

from ik_node import load_robot
from ik_node.description.files import description_path
from ik_node.errors import DescriptionError
from ik_node.gallery import gallery_item
from ik_node.motion.mapping import read_map, same_names
from ik_node.motion.read import read_motion
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.motions import key_points, TO_ROBOT, written

MAP = """
up: Y
forward: Z
scale: 0.01
origin: [0, 0, 0.5]
root: body
links:
  hand_link: {point: hand, scale: 2, weight: 3, dof: X Y Z EX EY EZ,
    offset: {xyz: [0.1, 0, 0], rpy: [0, 0, 0.5]}}
  base: {point: body}
"""


@pytest.fixture
def motion(tmp_path):
    """Return the small motion."""
    return read_motion(written(tmp_path, '.npz'))


def mapping(tmp_path, text):
    """Return the mapping of a text."""
    path = tmp_path / 'map.yaml'
    path.write_text(text)
    return read_map(path)


def test_goal_poses_follow_axes_scales_and_offsets(tmp_path, motion):
    """Y up becomes z up; a link's scale stretches the way from the root; offsets turn along."""
    poses = mapping(tmp_path, MAP).poses(motion)
    body, hand = key_points()['body'], key_points()['hand']
    root = 0.01 * TO_ROBOT.apply(body[0]) + (0.0, 0.0, 0.5)
    turn = TO_ROBOT * hand[1] * TO_ROBOT.inv()
    way = 0.01 * TO_ROBOT.apply(hand[0] - body[0])
    np.testing.assert_allclose(poses['base'][0], root, atol=1e-12)
    wanted = root + 2.0 * way + turn.apply([0.1, 0.0, 0.0])
    np.testing.assert_allclose(poses['hand_link'][0], wanted, atol=1e-12)
    wanted = turn * Rotation.from_euler('z', 0.5)
    assert (Rotation.from_quat(poses['hand_link'][1]) * wanted.inv()).magnitude().max() < 1e-12


def test_mapping_adds_goals_with_weights_and_axes(tmp_path):
    """The goal's name is that of the link."""
    robot = load_robot(description_path('humanoid.urdf'))
    text = MAP.replace('hand_link', 'left_hand_link').replace('base', 'pelvis_link')
    mapping(tmp_path, text).add_goals(robot)
    assert [*robot.goals] == ['left_hand_link', 'pelvis_link']
    assert robot.goals['left_hand_link'].weight == 3.0
    assert [len(goal.dof) for goal in robot.goals.values()] == [6, 3]


def test_error_of_mapping_names_line_and_what_is_allowed(tmp_path):
    """The file, the line and the link are in the message."""
    for old, new, message in [
        ('up: Y', 'up: W', r":2: up: 'W'; allowed: X Y Z -X -Y -Z"),
        ('forward: Z', 'forward: -Y', r'up: Y and forward: -Y are the same axis'),
        ('scale: 0.01', 'scale: 0', r'scale .*: 0; expected a number above 0'),
        ('root:', 'rot:', r"the key 'rot' is not known; allowed: up forward scale"),
        ('{point: body}', '{}', r':10: links: base: point is missing'),
        ('weight: 3', 'weight: -1', r':8: links: hand_link: weight: -1 cannot'),
        ('X Y Z EX EY EZ', 'X Q', r':8: links: hand_link: .*Q'),
        ('xyz: [0.1, 0, 0]', 'xyz: [1, 2]', r'offset: xyz \[m\]: expected 3 finite numbers'),
        ('links:', 'limbs:', r"the key 'limbs' is not known"),
    ]:
        assert old in MAP
        with pytest.raises(DescriptionError, match=rf'map\.yaml.*{message}'):
            mapping(tmp_path, MAP.replace(old, new))


def test_unknown_key_point_and_link_are_named_with_similar_ones(tmp_path, motion):
    """With the line of the mapping."""
    with pytest.raises(DescriptionError, match=r":10: .*no key point 'bodi'; did you mean 'body'"):
        mapping(tmp_path, MAP.replace('point: body', 'point: bodi')).poses(motion)
    robot = load_robot(description_path('humanoid.urdf'))
    with pytest.raises(DescriptionError, match=r":8: .*no link 'hand_link'; did you mean"):
        mapping(tmp_path, MAP).add_goals(robot)


def test_orientation_that_motion_lacks_is_refused(tmp_path):
    """The mapping wants six axes of a key point that has positions only."""
    path = tmp_path / 'plain.csv'
    path.write_text('hand.x,hand.y,hand.z,body.x,body.y,body.z\n1,2,3,4,5,6\n')
    with pytest.raises(DescriptionError, match=r"needs an orientation, which 'hand' has not"):
        mapping(tmp_path, MAP).poses(read_motion(path))


def test_names_are_compared_without_case_separators_and_namespace(tmp_path):
    """Links of the humanoid find LeftElbow and mocap:head."""
    path = tmp_path / 'm.npz'
    np.savez(path, **{name: np.zeros((2, 3)) for name in ('LeftElbow', 'mocap:head', 'Spine9')})
    motion = read_motion(path)
    robot = load_robot(description_path('humanoid.urdf'))
    found = same_names(motion, robot).links
    assert {each.link: each.point for each in found} == {
        'head_link': 'mocap:head',
        'left_elbow_link': 'LeftElbow',
    }
    assert [entry.dof for entry in found] == ['X Y Z', 'X Y Z']


def test_no_equal_name_is_an_error_that_tells_how_to_begin(motion):
    """The message lists both and names the option."""
    robot = load_robot(description_path('hexapod.urdf'))
    with pytest.raises(DescriptionError, match=r'--map MAP\.yaml.*body, hand; links: base_link'):
        same_names(motion, robot)


def test_mapping_of_gallery_humanoid_fits_its_goals(repository):
    """It moves the same links with the same weights and axes as the gallery does."""
    item = gallery_item('humanoid')
    read = read_map(repository / 'config' / 'humanoid_motion.yaml')
    goal_of = {link: goal for goal, link in item.goals.items()}
    assert {entry.link for entry in read.links} == {*goal_of}
    for entry in read.links:
        goal = goal_of[entry.link]
        assert entry.weight == item.weights[goal]
        assert entry.dof == item.dof.get(goal, 'X Y Z EX EY EZ')
