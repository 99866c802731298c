"""Closed-form Jacobians of mechanisms agree with transmissions, and with differences."""

import numpy as np
from support.closed_form import CLOSED_FORMS
from support.closed_motion import closed_configurations, difference_jacobian


def test_closed_form_agrees_with_central_differences(shared):
    """At ten configurations of each mechanism, relative to the largest element."""
    for name in CLOSED_FORMS:
        form = CLOSED_FORMS[name]
        robot = form.robot(shared)
        for q in closed_configurations(robot, form.reach, 10):
            jacobian = form.jacobian(dict(zip(robot.joint_names, q.tolist(), strict=True)))
            found = difference_jacobian(robot, form.actuators, form.joints, q)
            np.testing.assert_allclose(found, jacobian, atol=1e-7 * np.abs(jacobian).max())


def test_transmission_is_the_closed_form(shared):
    """At 25 configurations of each mechanism, relative to the largest element."""
    for name in CLOSED_FORMS:
        form = CLOSED_FORMS[name]
        robot = form.robot(shared)
        transmission = robot.transmission(form.actuators, form.joints)
        for q in closed_configurations(robot, form.reach, 25):
            jacobian = form.jacobian(dict(zip(robot.joint_names, q.tolist(), strict=True)))
            found = transmission.jacobian(q)
            assert np.abs(found - jacobian).max() <= 1e-9 * np.abs(jacobian).max()
