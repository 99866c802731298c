"""Effort limits of MJCF joints: of their actuators, of their own, and of classes."""

from math import inf

from ik_node.description.mjcf.reader import read_mjcf
from ik_node.description.read import read_description
from ik_node.description.xml_document import parse_xml
import numpy as np
import pytest

ROBOT = """<mujoco model="r"><compiler {compiler}/><default>{classes}</default><worldbody>
<body name="a"><joint name="j" {joint}/><body name="b"><joint name="s" type="slide"/>
<body name="c"><joint name="l" type="ball"/></body></body></body></worldbody>
<actuator>{actuators}</actuator></mujoco>"""
# Actuators, attributes of the joint j, classes, and the effort limit of j.
EFFORTS = [
    row.split(' | ')
    for row in """\
no limit | <motor joint="j"/> |  |  | inf
no actuator |  |  |  | inf
force range | <position joint="j" forcerange="-5 5"/> |  |  | 5
force range and gear | <motor joint="j" forcerange="-5 5" gear="-3 1"/> |  |  | 15
force range to one side | <motor joint="j" forcerange="-2 7"/> |  |  | 7
force range switched off | <motor joint="j" forcerange="-5 5" forcelimited="false"/> |  |  | inf
control range of a motor | <motor joint="j" ctrlrange="-1 2" gear="10"/> |  |  | 20
control range switched off | <motor joint="j" ctrlrange="-1 2" ctrllimited="false"/> |  |  | inf
control range of servos | <position joint="j" ctrlrange="-1 1" kp="5"/> |  |  | inf
control range of a velocity servo | <velocity joint="j" ctrlrange="-1 1"/> |  |  | inf
control range of a damper | <damper joint="j" ctrlrange="0 1" kv="2"/> |  |  | inf
both ranges | <motor joint="j" ctrlrange="-4 4" forcerange="-3 9" gear="2"/> |  |  | 8
general actuator like a motor | <general joint="j" ctrlrange="-1 2" gainprm="-4"/> |  |  | 8
general actuator with a bias | <general joint="j" ctrlrange="-1 2" biastype="affine" biasprm="0 -1"/> |  |  | inf
general actuator with its own state | <general joint="j" ctrlrange="-1 2" dyntype="integrator"/> |  |  | inf
several actuators | <motor joint="j" ctrlrange="-1 2"/><motor joint="j" ctrlrange="-5 1" gear="2"/> |  |  | 11
one of several without a limit | <motor joint="j" ctrlrange="-1 2"/><motor joint="j"/> |  |  | inf
range of the joint | <motor joint="j"/> | actuatorfrcrange="-2 3" |  | 3
range of the joint and of the actuator | <motor joint="j" ctrlrange="-2.5 1" gear="2"/> | actuatorfrcrange="-4 8" |  | 4
range of the joint switched off | <motor joint="j"/> | actuatorfrcrange="-2 3" actuatorfrclimited="false" |  | inf
parent's axes | <motor jointinparent="j" forcerange="-2 2"/> |  |  | 2
class of the joint | <motor joint="j"/> |  | <joint actuatorfrcrange="-6 6"/> | 6
class of another actuator | <motor joint="j"/> |  | <position forcerange="-5 5" gear="2"/> | 10
class with a gain | <general joint="j" ctrlrange="-1 1"/> |  | <general gainprm="3"/> | 3
gain of a class does not change a motor | <motor joint="j" ctrlrange="-1 1"/> |  | <general gainprm="3" biastype="affine"/> | 1
general actuator in the class of a servo | <general joint="j" ctrlrange="-1 1"/> |  | <position kp="3"/> | inf
general actuator in the class of a motor | <general joint="j"/> |  | <motor ctrlrange="-1 1" gear="7"/> | 7
named class in a class | <motor joint="j" class="strong"/> |  | <motor ctrlrange="-1 1"/><default class="strong"><motor gear="50"/></default> | 50""".splitlines()  # noqa: E501
]


def read(actuators='', joint='', classes='', compiler='angle="radian"'):
    """Return the robot, read without MuJoCo."""
    text = ROBOT.format(actuators=actuators, joint=joint, classes=classes, compiler=compiler)
    return read_mjcf(parse_xml(text, '<text>'))


def limit_of(description, name='j'):
    """Return the effort limit of a joint."""
    joint = description.joints[name]
    return joint.max_effort[joint.dof[0]]


@pytest.mark.parametrize('row', EFFORTS, ids=[case for case, *_ in EFFORTS])
def test_effort_limit_is_read_and_that_of_mujoco(row):
    """With any control input, MuJoCo's actuators apply no more than the limit, and reach it."""
    _, actuators, joint, classes, effort = (*row[:4], float(row[4]))
    description = read(actuators, joint, classes)
    assert (limit_of(description), description.notes[1:]) == (effort, [])
    mujoco = pytest.importorskip('mujoco')
    text = ROBOT.format(
        actuators=actuators, joint=joint, classes=classes, compiler='angle="radian"'
    )
    spec = mujoco.MjSpec.from_string(text)
    for body in spec.bodies[1:]:
        body.explicitinertial, body.mass, body.inertia = True, 1.0, [1.0, 1.0, 1.0]
        body.ipos = [0.0, 0.0, 0.0]
    model = spec.compile()
    data = mujoco.MjData(model)
    largest = 0.0
    for sign in (-1e9, 1e9):
        # A servo's and a damper's force also depends on the motion of the joint.
        data.qpos[0] = data.qvel[0] = -sign
        data.act[:] = sign
        for corner in np.ndindex(*(2,) * model.nu):
            data.ctrl[:] = [sign if each else -sign for each in corner]
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_fwdActuation(model, data)
            largest = max(largest, abs(data.qfrc_actuator[0]))
    if model.nu and effort < inf:
        assert largest == pytest.approx(effort)
    elif model.nu:
        assert largest > 1e8


def test_slide_has_a_force_limit_and_a_ball_has_none():
    """As for velocities, a joint with several axes has no limit."""
    description = read(
        '<motor joint="s" forcerange="-30 20"/><motor joint="l" forcerange="-1 1" gear="0 0 1"/>'
    )
    assert limit_of(description, 's') == 30.0
    assert np.isinf(description.joints['l'].max_effort).all()
    assert description.actuated == ['s', 'l']


def test_tendon_does_not_limit_the_effort():
    """The force on a tendon is not the torque of the joint that it drives."""
    text = ROBOT.format(
        joint='', classes='', compiler='', actuators='<motor tendon="t" forcerange="-1 1"/>'
    ).replace('</mujoco>', '<tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>')
    description = read_description(text + '</mujoco>')
    assert description.actuated == ['j']
    assert limit_of(description) == inf


@pytest.mark.parametrize(
    'actuators',
    [
        '<motor joint="j" gear="0" forcerange="-1 1"/>',
        '<motor joint="j" gear="1e9" forcerange="-1e9 1e9"/>',
    ],
)
def test_number_that_cannot_be_a_limit_is_none(actuators):
    """Zero, which no motor has, and a number beyond what can be written."""
    assert limit_of(read(actuators)) == inf
