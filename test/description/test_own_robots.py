"""Our own robots in urdf/: closed at zero, motors known, readable by plain URDF tools."""

from xml.etree import ElementTree

from ik_node.description.read import read_description
import numpy as np
import pytest
from urdf_parser_py.urdf import URDF

ROBOTS = {
    'hexapod': (24, [f'leg{i}_ball' for i in range(6)], [f'leg{i}' for i in range(6)], 18),
    'fivebar': (4, ['pin'], ['left_shoulder', 'right_shoulder'], 5),
}


@pytest.fixture(params=ROBOTS)
def name(request):
    """Return the name of one of our robots."""
    return request.param


def test_loops_are_closed_at_zero(repository, name):
    """At zero every loop is closed to rounding, inside all limits, with nothing guessed."""
    joint_count, closures, motors, row_count = ROBOTS[name]
    description = read_description(repository / 'urdf' / f'{name}.urdf')
    assert len(description.joint_order) == joint_count
    assert all(len(joint.dof) == 1 for joint in description.joint_order)
    assert not any(joint.dof_values.any() for joint in description.joint_order)
    assert list(description.closures) == closures
    residuals = [closure.get_residual() for closure in description.closures.values()]
    assert sum(map(len, residuals)) == row_count
    assert np.abs(np.concatenate(residuals)).max() < 1e-12
    assert description.actuated == motors
    assert description.notes == []


def test_all_limits_are_finite(repository, name):
    """Every joint has limits around zero, a top speed and a largest effort."""
    description = read_description(repository / 'urdf' / f'{name}.urdf')
    for joint in description.joint_order:
        (dof,) = joint.dof
        assert -4.0 < joint.min_dof_limit[dof] < 0.0 < joint.max_dof_limit[dof] < 4.0
        assert 0.0 < joint.max_velocity[dof] < np.inf
        assert 0.0 < joint.max_effort[dof] < np.inf


def test_loops_and_motors_are_in_description_text(repository, name):
    """The text alone, as it goes over a topic, has the same loops and motors."""
    path = repository / 'urdf' / f'{name}.urdf'
    from_text, from_path = read_description(path.read_text()), read_description(path)
    assert list(from_text.closures) == list(from_path.closures)
    assert from_text.actuated == from_path.actuated


def test_plain_urdf_parser_reads_robot_and_reports_only_loops(repository, name, capfd):
    """urdf_parser_py reads the whole file and complains of the loops only."""
    path = repository / 'urdf' / f'{name}.urdf'
    robot = URDF.from_xml_string(path.read_text())
    assert len(robot.joints) == len(ElementTree.parse(path).getroot().findall('joint'))
    complaints = capfd.readouterr().err.splitlines()
    assert len(complaints) == len(ROBOTS[name][1])
    assert all('"loop_joint"' in line for line in complaints)


def test_the_platform_moves_with_its_legs(repository):
    """A moved platform opens the loops by the platform's move: the legs stay where they are."""
    description = read_description(repository / 'urdf/hexapod.urdf')
    description.joints['platform_z'].set_dof_values(0.005)
    for closure in description.closures.values():
        assert np.linalg.norm(closure.get_residual()) == pytest.approx(0.005)
    home = np.array((0, 0, 0.088326 + 0.005))
    np.testing.assert_allclose(
        description.links['platform_link'].get_world_position(), home, atol=1e-15
    )
