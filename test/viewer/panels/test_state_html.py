"""Pose and joints as text."""

from ik_node.model.rotation import pose_matrix, quat_from_euler
from ik_node.viewer.panels.state_panel import state_html


def test_pose_and_joints_are_readable():
    """Metres and degrees of the link, both units of every joint, no minus before nought."""
    pose = pose_matrix((0.12345, -0.5, -1e-9), quat_from_euler(0.1, -0.2, 0.3))
    text = state_html('tool', pose, [('hip', 0.5, True), ('slide', -0.02, False)])
    for word in ('tool', '0.1235', '-0.5000', '>0.0000<', '5.73', '-11.46', '17.19'):
        assert word in text
    for word in ('0.5000 rad', '28.65 deg', '-0.0200 m', '-20.00 mm'):
        assert word in text
    assert '-0.0000' not in text


def test_names_are_escaped():
    """A link is called what it is called."""
    text = state_html('<b>', None, [('<i>', 0.0, True)])
    assert '<i>' not in text
    assert '&lt;i&gt;' in text
    assert 'roll' not in text
