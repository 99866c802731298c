"""Messages to numbers and back, on anything that has the fields."""

import math
import sys
from types import SimpleNamespace as Data

from ik_node.kernels.layout import LARGEST
from ik_node.model.rotation import matrix_to_quat
from ik_node.ros.messages import (
    command_from_message,
    measurement_from_message,
    pose_from_message,
    quat_xyzw_from_rpy,
    RefusedInputError,
)
import numpy as np
import pytest

PARTS = (*(f'position.{axis}' for axis in 'xyz'), *(f'orientation.{axis}' for axis in 'xyzw'))


def pose_data(position=(1.0, 2.0, 3.0), quat_xyzw=(0.0, 0.0, 0.0, 1.0)):
    """Return something with the fields of a geometry_msgs/Pose."""
    point, quat = Data(), Data()
    point.x, point.y, point.z = position
    quat.x, quat.y, quat.z, quat.w = quat_xyzw
    return Data(position=point, orientation=quat)


def test_pose_is_read_and_normalised():
    position, quat = pose_from_message('t', pose_data(quat_xyzw=(0.0, 0.0, 2.0, 2.0)))
    assert position == (1.0, 2.0, 3.0)
    assert quat == pytest.approx((0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)), abs=1e-15)
    limit = (LARGEST, -LARGEST, LARGEST)
    assert pose_from_message('t', pose_data(limit))[0] == limit


def test_bad_pose_is_refused_with_topic_field_and_value():
    for bad in [math.nan, math.inf, -math.inf]:
        for at, part in enumerate(PARTS):
            numbers = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
            numbers[at] = bad
            with pytest.raises(RefusedInputError, match=f'goals/a: pose.{part} = {bad}'):
                pose_from_message('goals/a', pose_data(numbers[:3], numbers[3:]))
    for pose, words in (
        (pose_data((0.0, 1e41, 0.0)), r'pose.position.y = .* not within 1e\+40 m$'),
        (pose_data(quat_xyzw=(0.0, 0.0, 0.0, 0.0)), 'zero quaternion'),
        (pose_data(quat_xyzw=(1e308,) * 4), 'too large'),
    ):
        with pytest.raises(RefusedInputError, match=words):
            pose_from_message('t', pose)


@pytest.mark.parametrize('unknown', [math.nan, math.inf])
def test_unknown_effort_of_a_measurement_drops_only_itself(unknown):
    """Drivers send such numbers for a motor that is off; what the others measure counts."""
    message = Data(
        name=['a', 'b'], position=[0.5, 0.6], velocity=[unknown, 0.1], effort=[2.0, unknown]
    )
    read = measurement_from_message('joint_states', message)
    assert read.positions == {'a': 0.5, 'b': 0.6}
    assert (read.velocities, read.efforts) == ({'b': 0.1}, {'a': 2.0})
    # A command is carried out as it is, or not at all.
    message = Data(name=['a'], position=[], velocity=[], effort=[math.inf])
    with pytest.raises(RefusedInputError, match='effort of a = inf'):
        command_from_message('joint_command', message)


@pytest.mark.parametrize('package', [True, False])
def test_roll_pitch_yaw_has_the_convention_of_urdf(package, monkeypatch):
    """Rz(yaw) Ry(pitch) Rx(roll), with tf_transformations where it is installed and without it."""
    if package:
        pytest.importorskip('tf_transformations')
    else:
        monkeypatch.setitem(sys.modules, 'tf_transformations', None)
    for roll, pitch, yaw in ((0.0, 0.0, 0.0), (math.pi / 2, 0.0, 0.0), (0.3, -0.2, 1.1)):
        (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
        turn_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
        turn_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        turn_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        expected = matrix_to_quat(turn_z @ turn_y @ turn_x)
        found = quat_xyzw_from_rpy((roll, pitch, yaw))
        assert found == pytest.approx(tuple(expected), abs=1e-13)
