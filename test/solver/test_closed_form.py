"""Transmissions of mechanisms agree with their Jacobians in closed form."""

from ik_node import Solver, SolverOptions
import numpy as np
import pytest
from support.closed_form import CLOSED_FORMS

TIGHT = SolverOptions(translation_converge_threshold=1e-13, rotation_converge_threshold=1e-13)


@pytest.mark.parametrize('name', CLOSED_FORMS)
def test_transmission_is_the_closed_form(name, shared):
    """At 25 configurations of each mechanism, relative to the largest element."""
    form, dice = CLOSED_FORMS[name], np.random.default_rng(7)
    robot = form.load(shared)
    solver = Solver(robot, TIGHT)
    transmission = robot.transmission(form.actuators, form.joints)
    for _ in range(25):
        driven = {joint: float(dice.uniform(*ends)) for joint, ends in form.reach.items()}
        solution = solver.drive(driven)
        assert solution.converged, solution.message
        jacobian = form.jacobian(solution.as_dict())
        found = transmission.jacobian(solution.q)
        assert np.abs(found - jacobian).max() <= 1e-9 * np.abs(jacobian).max()
