"""Our reading of an MJCF and MuJoCo's kinematics of it are one."""

import numpy as np
import pytest

pytest.importorskip('mujoco')

from ik_node.description.description import apply_loops
from ik_node.description.mjcf.reader import read_mjcf
from ik_node.description.xml_document import parse_xml
from ik_node.model.rotation import quat_from_euler, quat_multiply
import mujoco

SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)
HEADER = '<compiler angle="radian"/>'
BODIES = {
    'degrees, own sequence, lower and upper case': """<mujoco>
        <compiler eulerseq="zYx"/><worldbody>
        <body name="a" euler="10 20 30" pos="1 2 3"><joint range="-90 45" ref="15" axis="1 2 3"/>
        <body name="b" euler="-40 50 60"><joint type="slide" range="-2 3" ref="0.5"/>
        </body></body></worldbody></mujoco>""",
    'several joints of a body, in order, off its origin': f"""<mujoco>{HEADER}<worldbody>
        <body name="a" pos="0 0 1" quat="1 2 3 4">
        <joint name="x" type="slide" axis="1 1 0" pos="9 9 9" ref="-0.25"/>
        <joint name="y" pos="0.1 0.2 0.3" axis="0 -1 0" ref="0.7"/>
        <joint name="z" pos="-0.1 0 0.3" axis="-1 0 0"/>
        <joint name="s" type="ball" pos="0.3 0.2 0.1"/>
        <body name="b" pos="0.5 0 0"/></body></worldbody></mujoco>""",
    'free, with an orientation of its own, and below': f"""<mujoco>{HEADER}<worldbody>
        <body name="base" pos="1 2 3" euler="0.1 0.2 0.3"><freejoint name="root"/>
        <body name="leg" pos="0 0.1 0" axisangle="0 1 1 0.5"><joint name="hip" axis="0 1 0"/>
        </body></body>
        <body name="other"><joint type="free"/></body></worldbody></mujoco>""",
    'every way to write a rotation': f"""<mujoco>{HEADER}<worldbody>
        <body name="a" axisangle="1 2 3 0.4"/><body name="b" xyaxes="1 2 3 3 1 -2"/>
        <body name="c" zaxis="1 -2 0.5"/><body name="d" zaxis="0 0 -2"/>
        <body name="e" zaxis="0 0 3"/><body name="f" euler="1 2 3"/><body name="g" quat="2 0 0 1"/>
        </worldbody></mujoco>""",
    'frames around everything': f"""<mujoco>{HEADER}<worldbody>
        <frame pos="1 0 0" euler="0.1 0.2 0.3"><body name="a" pos="0 1 0">
        <frame pos="0 0 1" axisangle="1 0 0 0.7"><joint axis="1 1 1" pos="0.1 0 0"/>
        <frame zaxis="1 2 3"><body name="b" pos="0 0 2" euler="1 0 0"><joint name="j"/></body>
        <site name="s" pos="1 2 3" quat="1 1 0 0"/></frame></frame></body></frame>
        </worldbody></mujoco>""",
    'classes in classes, childclass and class': f"""<mujoco>{HEADER}
        <default><joint axis="0 1 0" range="-1 1"/><site euler="0.1 0 0"/>
        <default class="arm"><joint pos="0 0 0.5"/><default class="hand"><joint type="slide"/>
        <site type="capsule" size="0.1" fromto="0 0 0 1 1 1"/></default></default>
        <default class="turned"><site quat="0 0 1 0"/></default>
        <default class="free"><joint range="0 0" limited="false"/></default></default>
        <worldbody><body name="a" childclass="arm"><joint/><site name="s1"/>
        <body name="b"><joint class="hand"/><frame childclass="hand"><joint axis="0 0 1"/>
        <site name="s2"/></frame><body name="c" childclass="hand"><joint class="free"/>
        <joint limited="true" range="-0.5 0.25"/><site name="s3" class="main" quat="0 1 0 0"/>
        <site name="s4" class="turned" zaxis="0 1 0"/><site name="s5" class="turned"/>
        </body></body></body></worldbody></mujoco>""",
    'limits said aloud': """<mujoco><compiler autolimits="false" angle="radian"/><worldbody>
        <body name="a"><joint name="j" range="-1 1" limited="true"/></body>
        <body name="b"><joint name="k" range="-1 1" limited="false"/></body>
        <body name="c"><joint name="l" type="ball" range="0 1" limited="true"/></body>
        </worldbody></mujoco>""",
}
LOOPS = {
    'points': """<connect name="one" body1="a" anchor="0.1 0.2 0.3" body2="b"/>
        <connect body1="c" anchor="0 0 1"/><connect site1="sa" site2="sc"/>""",
    'welds': """<weld body1="a" body2="b"/><weld name="two" body1="b" anchor="1 2 3"/>
        <weld body1="a" body2="c" relpose="1 2 3 1 0 0 1" anchor="0.1 0 0"/>
        <weld site1="sb" site2="sc" torquescale="0.5"/>
        <weld body1="c" body2="a" torquescale="0" active="false"/>""",
    'joints': """<joint joint1="j" joint2="k" polycoef="0.1 -2 0.3 0.4 -0.5"/>
        <joint joint1="l" polycoef="0.2"/>""",
}
ARMS = f"""<mujoco>{HEADER}<worldbody>
    <body name="a" pos="1 0 0" euler="0.1 0.2 0.3"><joint name="j" ref="0.3"/>
    <site name="sa" pos="0 0 0.1" euler="1 0 0"/></body>
    <body name="b" pos="0 1 0" euler="0 0.2 0.3"><joint name="k" axis="1 0 0" ref="-0.4"/>
    <joint name="k2" type="slide" axis="0 1 0"/><site name="sb" pos="0.1 0 0.1" zaxis="1 2 3"/>
    <body name="c" pos="0 0 1" euler="0.5 0 0"><joint name="l" pos="0 0 -0.2" axis="0 1 0"/>
    <site name="sc" pos="0 0.3 0"/></body></body></worldbody>
    <equality>EQUALITY</equality></mujoco>"""
MODELS = {**BODIES, **{name: ARMS.replace('EQUALITY', text) for name, text in LOOPS.items()}}


def read(text):
    """Return the description of a text, loops in it."""
    description = read_mjcf(parse_xml(text, '<text>'))
    for loops in description.loops:
        apply_loops(loops, description)
    return description


def compiled(text):
    """Return MuJoCo's model of a text, with masses that it accepts."""
    spec = mujoco.MjSpec.from_string(text)
    for body in spec.bodies:
        if body.name != 'world':
            body.explicitinertial, body.mass, body.inertia = True, 1.0, [1.0, 1.0, 1.0]
            body.ipos = [0.0, 0.0, 0.0]
    return spec.compile()


def pose_both(description, model, data, rng):
    """Give both the same random pose."""
    for index, joint in enumerate(description.joint_order):
        address, kind = model.jnt_qposadr[index], model.jnt_type[index]
        values = np.zeros(6)
        if kind >= SLIDE:
            data.qpos[address] = values[joint.dof[0]] = rng.uniform(-1, 1)
        else:
            values[3:] = rng.uniform(-1, 1, 3)
            turned = quat_from_euler(*values[3:])
            if kind == int(mujoco.mjtJoint.mjJNT_FREE):
                values[:3] = data.qpos[address : address + 3] = rng.uniform(-1, 1, 3)
                address += 3
                turned = quat_multiply(turned, np.roll(model.qpos0[address : address + 4], -1))
            data.qpos[address : address + 4] = np.roll(turned, 1)
        joint.dof_values[:] = values
        joint.set_matrix_dof_needs_update()
    mujoco.mj_forward(model, data)


def rows_of(data, index):
    """Return MuJoCo's rows of an equality."""
    mine = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    return data.efc_pos[mine & (data.efc_id == index)]


def test_kinematics_are_mujocos():
    """Bodies, sites, limits and the rows of loops at random poses."""
    for text in MODELS.values():
        description, model = read(text), compiled(text)
        data, rng = mujoco.MjData(model), np.random.default_rng(0)
        joints = description.joint_order
        assert len(joints) == model.njnt
        held = [i for i in range(model.neq) if model.eq_type[i] == 2 and model.eq_obj2id[i] < 0]
        for index, joint in enumerate(joints):
            if index in model.eq_obj1id[held]:
                continue
            if model.jnt_type[index] < SLIDE:
                assert np.isinf(joint.max_dof_limit).all()
                continue
            limits = model.jnt_range[index] if model.jnt_limited[index] else (-np.inf, np.inf)
            found = joint.min_dof_limit[joint.dof[0]], joint.max_dof_limit[joint.dof[0]]
            np.testing.assert_allclose(found, limits, rtol=1e-14)
        for _ in range(5):
            pose_both(description, model, data, rng)
            for name, kind in (('body', model.nbody), ('site', model.nsite)):
                for index in range(kind):
                    part = getattr(data, name)(index)
                    if part.name:
                        found = description.links[part.name].matrix_world
                        np.testing.assert_allclose(found[:3, 3], part.xpos, atol=1e-12)
                        np.testing.assert_allclose(found[:3, :3].ravel(), part.xmat, atol=1e-12)
            closures = iter(description.closures.values())
            for index in range(model.neq):
                if model.eq_type[index] != int(mujoco.mjtEq.mjEQ_JOINT):
                    closure, rows = next(closures), rows_of(data, index)
                    assert closure.enabled == bool(model.eq_active0[index])
                    if not closure.enabled:
                        continue
                    residual = closure.get_residual()
                    assert len(residual) == len(rows)
                    np.testing.assert_allclose(
                        np.linalg.norm(residual[:3]), np.linalg.norm(rows[:3]), atol=1e-12
                    )
                    if len(rows) == 6:  # MuJoCo's is the vector part of the quaternion, scaled
                        scale = model.eq_data[index][10]
                        angle = 2.0 * np.arcsin(np.linalg.norm(rows[3:]) / scale)
                        np.testing.assert_allclose(np.linalg.norm(residual[3:]), angle, atol=1e-6)


def test_a_coupling_is_mujocos():
    """A joint that follows another, both with a ref, has MuJoCo's value."""
    text = ARMS.replace('EQUALITY', LOOPS['joints'])
    model = compiled(text)
    data = mujoco.MjData(model)
    (coupling,) = read(text).joints['j'].couplings.values()
    for value in (-1.0, -0.4, 0.3, 2.0):
        data.joint('k').qpos[0] = value
        data.joint('j').qpos[0] = coupling.value(value)
        data.joint('l').qpos[0] = 0.2
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(rows_of(data, 0), 0.0, atol=1e-12)
        np.testing.assert_allclose(rows_of(data, 1), 0.0, atol=1e-12)
