"""Forward kinematics and loop gaps of real models against truth computed by other means."""

import json

from ik_node.description.read import read_description
from ik_node.model.rotation import pose_matrix
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
