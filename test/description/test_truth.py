"""Forward kinematics and loop gaps of real models against truth computed by other means."""

import json

from ik_node.description.read import read_description
from ik_node.model.rotation import pose_matrix
from ik_node.robot import load_robot
import numpy as np
import pytest
from support.truth_sets import TRUTH_SETS


def pose(entry):
    """Return the 4x4 pose of a truth entry."""
    return pose_matrix(entry['xyz'], entry['quat_xyzw'])


@pytest.fixture(params=TRUTH_SETS)
def known(request, shared):
    """Return a truth set and its model, read with its closure annotations."""
    truth = json.loads((shared / 'truth' / f'{request.param}.json').read_text())
    annotations = truth.get('closures_yaml')
    description = read_description(
        shared / truth['model'], closures=shared / annotations if annotations else None
    )
    assert len(description.closures) == TRUTH_SETS[request.param]
    return truth, description


def test_frames_and_loops_agree_with_the_published_ones(known):
    """Goal frames and loop gaps agree at every pose, limits and mimic joints included."""
    truth, description = known
    movable = [joint.name for joint in description.joint_order]
    assert sorted(movable) == sorted(truth['joints'])
    base = description.links[truth['base_link']]
    for entry in truth['poses']:
        for name, value in zip(truth['joints'], entry['q'], strict=True):
            joint = description.joints[name]
            joint.set_dof_values(value)
            assert abs(joint.dof_values[joint.dof[0]] - value) < 1e-9  # within its limits
            for dof, coupling in joint.couplings.items():
                master = truth['joints'].index(coupling.master.name)
                assert abs(coupling.value(entry['q'][master]) - value) < 1e-9, dof
        for frame in truth['goal_frames']:
            world = description.links[frame['link']].matrix_world @ pose(frame)
            found = np.linalg.inv(base.matrix_world) @ world
            wanted = pose(entry['frames'][frame['name']])
            np.testing.assert_allclose(found, wanted, atol=1e-9, err_msg=frame['name'])
        for closure in description.closures.values():
            np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-9)


def test_loops_declared_in_the_file_close(shared):
    """The AgiBot's own <loop_joint> elements close to the rounding of the file: 28 micrometres."""
    description = read_description(shared / 'models/agibot_g1_omnipicker/G1_omnipicker.urdf')
    assert description.dialect == 'URDF + loop_joint'
    truth = json.loads((shared / 'truth/agibot_g1.json').read_text())
    for name, value in zip(truth['joints'], truth['poses'][0]['q'], strict=True):
        description.joints[name].set_dof_values(value)
    gaps = [np.linalg.norm(closure.get_residual()) for closure in description.closures.values()]
    assert len(gaps) == 4
    assert 1e-5 < max(gaps) < 3e-5


def test_joint_order_and_mimic_are_the_file_s(shared):
    """Order of joints, limits and couplings of a real arm with mimic joints."""
    truth = json.loads((shared / 'truth/abb_irb2400.json').read_text())
    description = read_description(shared / truth['model'])
    for name, (master, multiplier, offset) in truth['mimic'].items():
        (coupling,) = description.joints[name].couplings.values()
        assert coupling.master.name == master
        assert coupling.coefficients == (offset, multiplier)
    assert len(truth['mimic']) == 2


FILES = {
    ('robotiq_2f85_mjcf', '2f85.xml'): (3, ['left_driver_joint']),
    ('robotiq_2f85_mjcf', '2f85.kin.xml'): (3, []),
    ('xarm7_hand_mjcf', 'hand.xml'): (1, ['right_driver_joint']),
    ('xarm7_hand_mjcf', 'hand.kin.xml'): (1, []),
}


@pytest.mark.parametrize(('name', 'file'), FILES)
def test_loops_and_frames_agree_with_mujoco(shared, name, file):
    """At every pose all loops and couplings are closed and the bodies are where they are."""
    truth = json.loads((shared / 'truth' / f'{name}.json').read_text())
    robot = load_robot(shared / 'models' / name / file)
    mobility, motors = FILES[name, file]
    assert 'equality' in robot.dialect
    assert robot.mobility == mobility
    assert robot.actuated == motors
    assert robot.root.name == 'world'
    assert robot.joint_names == [joint['name'] for joint in truth['joints']]
    for entry in truth['poses']:
        q = np.array(entry['qpos'])
        robot.q = q
        np.testing.assert_array_equal(robot.q, q)  # within the limits
        for closure in robot.closures.values():
            np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-12)
        for joint in robot.joint_order:
            for coupling in joint.couplings.values():
                master = coupling.master.dof_values[coupling.master.dof[0]]
                assert abs(coupling.value(master) - joint.dof_values[joint.dof[0]]) < 1e-12
        for frame in truth['goal_frames']:
            found = robot.links[frame['body']].matrix_world
            wanted = entry['frames'][frame['name']]['xyz']
            np.testing.assert_allclose(found[:3, 3], wanted, atol=1e-12)


def test_sdf_frames_and_loop_agree_with_the_published_ones(shared):
    """Joints, motors, frames and loop gap at every pose."""
    truth = json.loads((shared / 'truth/drake_four_bar.json').read_text())
    description = read_description(shared / 'models/drake_four_bar/four_bar.sdf')
    assert [joint.name for joint in description.joint_order] == truth['joints']
    assert description.actuated == truth['actuated']
    (closure,) = description.closures.values()
    for entry in truth['poses']:
        for name, value in zip(truth['joints'], entry['q'], strict=True):
            description.joints[name].set_dof_values(value)
        np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-9)
        for frame in truth['goal_frames']:
            found = description.links[frame['link']].matrix_world @ pose(frame)
            np.testing.assert_allclose(found, pose(entry['frames'][frame['name']]), atol=1e-9)


@pytest.mark.parametrize('name', ['four_bar_loop', 'four_bar_weld'])
def test_files_with_hyphens_in_comments_are_read(shared, name):
    """XML forbids them there; Drake and Gazebo read such files, and so does this."""
    description = read_description(shared / f'models/drake_four_bar/{name}.sdf')
    assert len(description.closures) == 1


# truth set -> what is recognised, and the joints with motors that the file names
DECLARED = {
    'urdfplus_four_bar': ('URDF + URDF+', ['joint1']),
    'closed_loop_2bt': ('URDF + gazebo joint', []),
}


@pytest.fixture(params=DECLARED)
def truth(request, shared):
    """Return a truth set."""
    return json.loads((shared / 'truth' / f'{request.param}.json').read_text())


def without_sidecar(shared, truth):
    """Return the text of a model, beside which no annotations are looked for."""
    return (shared / truth['model']).read_text()


def test_the_loops_are_those_annotated_by_hand(shared, truth):
    """Both have as many rows, and all of them vanish at every true pose."""
    annotated = read_description(shared / truth['model'], closures=shared / truth['closures_yaml'])
    declared = read_description(without_sidecar(shared, truth))
    assert (declared.dialect, declared.actuated) == DECLARED[truth['name']]
    rows = [sorted(each.dof for each in d.closures.values()) for d in (annotated, declared)]
    assert rows[0] == rows[1]
    for entry in truth['poses']:
        for description in (annotated, declared):
            for name, value in zip(truth['joints'], entry['q'], strict=True):
                description.joints[name].set_dof_values(value)
            for closure in description.closures.values():
                np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-9)
    for name in truth['joints']:  # and off the loops they say the same gap
        for description in (annotated, declared):
            description.joints[name].set_dof_values(0.3)
    gaps = [
        [np.linalg.norm(c.get_residual()) for c in d.closures.values()]
        for d in (annotated, declared)
    ]
    np.testing.assert_allclose(gaps[0], gaps[1], atol=1e-9)


def test_mobility_of_declared_loops_is_as_published(shared, truth):
    """One motion is left, away from the square where the parallelogram may fold."""
    robot = load_robot(without_sidecar(shared, truth))
    middle = truth['poses'][len(truth['poses']) // 2]
    values = dict(zip(truth['joints'], middle['q'], strict=True))
    robot.q = [values[name] for name in robot.joint_names]
    assert robot.mobility == middle['dof'] == 1
