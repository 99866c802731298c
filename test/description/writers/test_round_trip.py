"""What is written reads back to the same robot: every kind of joint, loop and name."""

from pathlib import Path

from ik_node.analysis.differences import differences
from ik_node.errors import IkError
from ik_node.model.rotation import matrix_to_quat, quat_conjugate, quat_multiply, unit
from ik_node.robot import from_dh, load_robot, Robot
import numpy as np
import pytest
from support.edited_robot import Dice, EditedRobot
from support.fourbar_urdf import FOURBAR, MACHINE

# Not well-formed, or too big to read in passing.
MODELS = (
    *('abb_irb2400/abb_irb2400.urdf', 'agibot_g1_omnipicker/G1_omnipicker.urdf'),
    *('athlete_t12/T12_flipped.URDF', 'closed_loop_2bt/closed_loop.urdf'),
    *('delta_clavel/model.urdf', 'drake_four_bar/four_bar.sdf', 'gepetto_5bar/robot.urdf'),
    *('gepetto_5bar_3d/robot.urdf', 'gepetto_digit_leg/robot.urdf', 'ur5e/ur5e.urdf'),
    *('pi_hexapod_h811/pi_hexapod_legs.urdf', 'robotiq_2f85_mjcf/2f85.kin.xml'),
    *('robotiq_2f85_ros2/robotiq_2f85_ros2.urdf', 'urdfplus_four_bar/four_bar.urdf'),
    'xarm7_hand_mjcf/hand.kin.xml',
)
# A text of every notation that a robot is read from.
SEEDS = sorted(
    path for path in Path(__file__).parents[2].glob('fuzz/seeds/*') if path.suffix != '.yaml'
)
TREES = {'as it is': {}, 'floating': {'root': 'floating'}, 'trimmed': {'trim_unused': True}}


def written_and_read(robot):
    """Return the robot from its text, and from its pair of texts."""
    whole = load_robot(robot.to_urdf(), assemble=False)
    urdf, annotations = robot.to_urdf(loops=False), robot.to_closures()
    assert '<loop_joint' not in urdf
    return whole, load_robot(urdf, closures=annotations, assemble=False)


@pytest.mark.parametrize('seed', range(40))
def test_any_robot_reads_back_equal(seed):
    """As one text, and as URDF and YAML; mobility where it is no matter of rounding."""
    edited = EditedRobot(Dice(seed)).edit(60)
    if edited.trouble() is not None:
        return
    robot = Robot(edited.frames['base'])
    for joint in robot.joints.values():  # a description has no locks
        joint.unlock()
    for back in written_and_read(robot):
        assert differences(robot, back) == []
        if robot.mobility.singular_values.max(initial=0.0) > 1e-9:
            assert int(robot.mobility) == int(back.mobility)


@pytest.mark.parametrize('seed', SEEDS, ids=lambda path: path.name)
def test_robot_of_every_notation_reads_back_equal(seed):
    """Values, limits, loops, motors, poses and mobility, as one text and as a pair of texts."""
    robot = load_robot(seed.read_text(), assemble=False)
    for back in written_and_read(robot):
        assert differences(robot, back) == []
        assert int(robot.mobility) == int(back.mobility)


def test_models_read_back_equal(shared):
    """Of every dialect; mobility and notes on what was guessed included."""
    for tree in TREES:
        for model in MODELS:
            robot = load_robot(shared / 'models' / model, assemble=False, **TREES[tree])
            for back in written_and_read(robot):
                assert differences(robot, back) == []
                assert int(robot.mobility) == int(back.mobility)


def test_own_robots_read_back_equal():
    """A mimic joint, a slanting axis, a ball, branches that only look nice."""
    for tree in TREES:
        for text in [FOURBAR, MACHINE]:
            robot = load_robot(text, **TREES[tree])
            for back in written_and_read(robot):
                assert differences(robot, back) == []
                assert [j.dof for j in back.joint_order[-4:]] == [
                    j.dof for j in robot.joint_order[-4:]
                ]


@pytest.mark.parametrize('convention', ['standard', 'modified'])
def test_dh_arm_reads_back_equal(convention):
    """Links of a Denavit-Hartenberg table stand off the axes of their joints."""
    rows = [(0.4, 0.1, 90, 10), (0.0, 0.5, 0, 30), (0.1, 0.3, -60, -60)]
    robot = from_dh(rows, convention=convention, degrees=True, joints='RPR')
    (whole, pair) = written_and_read(robot)
    assert differences(robot, whole) == differences(robot, pair) == []


@pytest.mark.parametrize('text', [FOURBAR, MACHINE])
def test_second_round_trip_gives_same_text(text):
    """The text of what was read back is the same but for where it is from."""
    first = load_robot(text).to_urdf()
    second = load_robot(first).to_urdf()
    assert first.split('-->')[1] == second.split('-->')[1]


def test_comparison_detects_differences():
    """The comparison that all this rests on is able to fail."""
    robot = load_robot(FOURBAR)
    changes = {
        'xyz="0.4 0 0"': ('xyz="7 0 0"', "pose of link 'coupler'"),
        'lower="0.2"': ('lower="-0.2"', 'lower of the joints'),
        'upper="2.8"': ('upper="2.9"', 'upper of the joints'),
        'velocity="3"': ('velocity="7"', 'max_velocity of the joints'),
        'effort="1" velocity="3"': ('effort="7" velocity="3"', 'max_effort of the joints'),
        'multiplier="0.5"': ('multiplier="0.7"', 'couplings'),
        'xyz="0.9 0 0"': ('xyz="0.8 0 0"', "frames of closure 'tie'"),
        'joint name="rock"': ('joint name="7"', "joint values: 'rock', '7'"),
        '"shade"': ('"7"', "links: 'shade', None"),
        '"tie"': ('"7"', "closures: 'tie', '7'"),
        'robot name="bars"': ('robot name="7"', "name: 'bars', '7'"),
        '<link name="lamp"/>': (
            '<link name="lamp"><inertial><mass value="1"/></inertial></link>',
            "mass of link 'lamp'",
        ),
        '</robot>': (
            '<ros2_control><joint name="nod"><command_interface/></joint></ros2_control></robot>',
            "motors: None, 'nod'",
        ),
        '<loop_joint': (
            '<joint_start joint="nod" value="0.1"/><loop_joint',
            'initial joint values',
        ),
    }
    for part, (changed, said) in changes.items():
        assert part in FOURBAR
        other = load_robot(FOURBAR.replace(part, changed), assemble=False)
        assert said in differences(robot, other), part
    for attribute in ('type="spherical"', 'type="revolute" tolerance="1e-3"'):
        text = FOURBAR.replace('"tie" type="revolute"', f'"tie" {attribute}')
        assert differences(robot, load_robot(text)) != []


def test_disabled_closure_is_written_as_disabled():
    """What is written is the robot as it is now: limits, closures, tolerances."""
    robot = load_robot(FOURBAR)
    robot.closures['tie'].enabled = False
    robot.closures['tie'].tolerance = [1e-4, 2e-3]
    robot.closures['tie'].weight = 0.25
    robot.joints['middle'].set_limits('EZ', -1.0, 2.5)
    for back in written_and_read(robot):
        assert differences(robot, back) == []
        assert not back.closures['tie'].enabled
        assert back.closures['tie'].tolerance == (1e-4, 2e-3)
        assert back.closures['tie'].weight == 0.25
        assert back.joints['middle'].max_dof_limit[5] == 2.5


def test_values_of_curves_that_joints_begin_with_are_kept():
    """A joint that follows another on a curve begins where the other one takes it."""
    robot = load_robot(
        """<mujoco><compiler angle="radian"/><worldbody><body name="a">
        <joint name="m" axis="0 0 1" range="-1 1" ref="0.3"/>
        <body name="b"><joint name="f" axis="0 0 1" range="-2 2" ref="0.2"/></body>
        <body name="c"><joint name="g" axis="0 0 1" range="-2 2"/></body></body></worldbody>
        <equality><joint joint1="f" joint2="m" polycoef="0.1 0.5 0.25 0 0"/>
        <joint joint1="g" joint2="f" polycoef="0.05 1 0 0.5 0"/></equality></mujoco>""",
        assemble=False,
    )
    assert robot.start == pytest.approx((0.3, 0.3, 0.1505))
    for back in written_and_read(robot):
        assert back.start == pytest.approx(robot.start, abs=1e-15)
        assert back.q == pytest.approx(robot.q, abs=1e-15)
        assert differences(robot, back) == []


def test_a_coupling_in_a_circle_is_still_refused():
    """What the reader does not take is not made readable by writing it."""
    text = load_robot(FOURBAR).to_urdf()
    circle = '<joint_coupling joint="nod" of="shake" coefficients="1 2"/></robot>'
    broken = text.replace('</robot>', circle)
    with pytest.raises(IkError, match='circle'):
        load_robot(broken)


def test_loop_half_a_turn_open_reads_back_equal():
    """The rotation vector of half a turn has two signs; rounding decides which one is found."""
    random, flipped = np.random.default_rng(3), 0
    for _ in range(40):
        axis = random.normal(0.0, 1.0, 3)
        turn = random.normal(0.0, 1.0, 4)
        half = quat_multiply(unit(turn), np.append(axis / np.linalg.norm(axis), 0.0))
        robot = load_robot(
            FOURBAR.replace('"tie" type="revolute"', '"tie" type="fixed"'), assemble=False
        )
        closure = robot.closures['tie']
        pose = [robot.links[name].matrix_world[:3, :3] for name in ('coupler', 'rocker')]
        ends = [
            quat_multiply(quat_conjugate(matrix_to_quat(a)), b)
            for a, b in zip(pose, (half, turn), strict=True)
        ]
        closure.set_offset((0.0, 0.0, 0.0), unit(ends[0]))
        closure.set_quaternion(*unit(ends[1]))
        for back in written_and_read(robot):
            assert differences(robot, back) == []
            there = back.closures['tie'].get_residual()[3:]
            flipped += float(closure.get_residual()[3:] @ there) < 0.0
    assert flipped > 0
