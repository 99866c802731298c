"""Joints with several masters in every format that can say them, and in what is written."""

from ik_node.robot import load_robot
import numpy as np
import pytest
from support.wrist import ELEMENTS, wrist
import yaml

ANNOTATIONS = """
couplings:
- joint: left
  of: {pitch: 2.0, roll: 1.0}
  offset: 0.1
- {joint: right, of: {pitch: 2, roll: [0.0, -1.0]}}
"""
TRANSMISSION = """
<transmission name="t"><type>transmission_interface/DifferentialTransmission</type>
<actuator name="right"><role>actuator2</role>
<mechanicalReduction>1</mechanicalReduction></actuator>
<actuator name="left"><role>actuator1</role></actuator>
<joint name="pitch"><role>joint1</role><mechanicalReduction>2</mechanicalReduction>
<offset>0.1</offset></joint><joint name="roll"><role>joint2</role></joint></transmission>"""
CONTROL = """
<ros2_control name="c" type="system"><transmission name="t">
<plugin>transmission_interface/DifferentialTransmission</plugin>
<actuator name="left" role="actuator1"/><actuator name="right" role="actuator2"/>
<joint name="pitch" role="joint1"><mechanical_reduction>2</mechanical_reduction></joint>
<joint name="roll" role="joint2"/></transmission></ros2_control>"""
FOUR_BAR = CONTROL.replace('Differential', 'FourBarLinkage')
MJCF = """<mujoco model="m"><compiler angle="radian"/><worldbody><body name="base">
<body name="arm"><joint name="pitch" axis="0 1 0" range="-2 2"/>
<body name="hand"><joint name="roll" axis="1 0 0" range="-2 2" ref="0.1"/></body></body>
<body name="l"><joint name="left" axis="0 1 0" range="-2 2"/></body>
<body name="r"><joint name="right" axis="0 1 0" range="-2 2"/></body></body></worldbody>
<tendon><fixed name="both"><joint joint="left" coef="1"/><joint joint="pitch" coef="-2"/>
<joint joint="roll" coef="-1"/></fixed>
<fixed name="out"><joint joint="pitch" coef="2"/><joint joint="roll" coef="-1"/></fixed>
<fixed name="in"><joint joint="right" coef="4"/></fixed></tendon>
<equality><tendon tendon1="both" polycoef="0.1 0 0 0 0"/>
<tendon tendon1="in" tendon2="out" polycoef="0 4 0 0 0"/></equality>
<actuator><motor joint="left"/><motor joint="right"/></actuator></mujoco>"""
HALVES = [[0.25, 0.25], [0.5, -0.5]]


def test_motors_turn_a_wrist_in_every_format():
    """And in the URDF and the YAML that are written of it."""
    for text, closures, offsets, ratio in [
        (wrist(), yaml.safe_load(ANNOTATIONS), (0.1, 0.0), HALVES),
        (wrist(ELEMENTS), None, (0.1, 0.0), HALVES),
        (wrist(TRANSMISSION), None, (-0.2, -0.2), HALVES),
        (wrist(TRANSMISSION, motors=False), None, (-0.2, -0.2), HALVES),
        (wrist(CONTROL, motors=False), None, (0.0, 0.0), HALVES),
        (wrist(FOUR_BAR, motors=False), None, (0.0, 0.0), [[0.5, 0.0], [-0.5, 1.0]]),
        (MJCF, None, (0.1 - 0.1, 0.1), HALVES),
    ]:
        robot = load_robot(text, closures=closures)
        plain = robot.to_urdf(loops=False)
        for copy in (
            robot,
            load_robot(robot.to_urdf()),
            load_robot(plain, closures=yaml.safe_load(robot.to_closures())),
        ):
            assert copy.mobility == 2
            between = copy.transmission(['left', 'right'], ['pitch', 'roll'])
            state = between.to_joints([0.3, 0.1])
            wanted = ratio @ (np.array((0.3, 0.1)) - offsets)
            np.testing.assert_allclose(state.joint_position, wanted, atol=1e-9)
            np.testing.assert_allclose(between.jacobian(state.q), ratio, atol=1e-12)


def test_motor_is_never_a_follower():
    """Of a tendon's joints one without a motor follows, and `actuated` has no other."""
    robot = load_robot(MJCF)
    assert robot.actuated == ['left', 'right']
    assert set(robot.joints['pitch'].couplings) | set(robot.joints['roll'].couplings)
    assert load_robot(wrist(TRANSMISSION, motors=False)).actuated == ['pitch', 'roll']


def test_tendons_hold_as_in_mujoco():
    """The constraint's violation is zero at our configurations."""
    mujoco = pytest.importorskip('mujoco')
    text = MJCF.replace('coef="4"/>', 'coef="4"/><joint joint="left" coef="0.5"/>')
    text = text.replace('/></body>', '/><geom size="0.1"/></body>')
    text = text.replace('<body name="hand">', '<geom size="0.1"/><body name="hand">')
    robot, model = load_robot(text), mujoco.MjModel.from_xml_string(text)
    data, solver = mujoco.MjData(model), robot.transmission(['left', 'right'])
    q = solver.to_joints([0.4, 0.3]).q
    data.qpos[:] = [q[robot.joint_names.index(model.joint(at).name)] for at in range(model.njnt)]
    mujoco.mj_forward(model, data)
    equalities = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert equalities.sum() == 2
    assert np.abs(data.efc_pos[equalities]).max() < 1e-9


def gears(reference):
    """Return a planetary gear in SDF: sun and planet mesh, seen from a link."""
    links = ''.join(f'<link name="{n}"/>' for n in ('base', 'carrier', 'planet', 'sun'))
    hinges = ''.join(
        f'<joint name="{child}_joint" type="revolute"><parent>{parent}</parent>'
        f'<child>{child}</child><axis><xyz>0 0 {sign}</xyz></axis></joint>'
        for parent, child, sign in (
            ('base', 'carrier', 1),
            ('carrier', 'planet', -1),
            ('base', 'sun', 1),
        )
    )
    return (
        f'<sdf version="1.8"><model name="m">{links}{hinges}'
        '<joint name="mesh" type="gearbox"><parent>sun</parent><child>planet</child>'
        f'<gearbox_ratio>2</gearbox_ratio><gearbox_reference_body>{reference}'
        '</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>'
        '</joint></model></sdf>'
    )


@pytest.mark.parametrize(
    ('reference', 'planet'), [('carrier', 1.9 * -2), ('base', 2.0 * -2 - 0.1)]
)
def test_sdf_gears_turn_over_a_moving_carrier(reference, planet):
    """Planet turns by -2 times the sun, both seen from the reference body."""
    robot = load_robot(gears(reference))
    assert robot.mobility == 2
    q = robot.transmission(['carrier_joint', 'sun_joint'], ['planet_joint']).to_joints([0.1, 2.0])
    assert q.joint_position[0] == pytest.approx(-planet, abs=1e-12)
    assert not any('gears' in note for note in robot.notes)
