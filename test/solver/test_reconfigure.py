"""A robot that grasps, releases, plants and lifts feet while one solver exists."""

from ik_node.model.constraint import Closure
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.building import split
from support.closed_mechanisms import two_legs
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)


def weld(name, parent, link):
    """Weld a link at its present pose to another link; return the closure."""
    closure = Closure(name)
    here = np.linalg.inv(parent.matrix_world) @ link.matrix_world
    position, quat = split(here)
    closure.set_position(*position)
    closure.set_quaternion(*quat)
    parent.add_child(closure)
    closure.make_closure(link)
    return closure


def undo(closure):
    """Release a closure."""
    closure.remove_child(closure.child)
    closure.parent.remove_child(closure)


def ask(goal, position, quat_xyzw=UNIT):
    """Write a pose to a goal and enable it."""
    goal.set_position(*position)
    goal.set_quaternion(*quat_xyzw)
    goal.enabled = True


def solved(m, solver, *closures):
    """Solve, verify all constraints and limits by the oracle, and return the oracle."""
    results = solver.solve()
    assert results
    assert all(result.status is Status.CONVERGED for result in results), results
    there = m.naive()
    asked = [goal for goal in m.goals.values() if goal.enabled]
    for closer in (*closures, *asked):
        assert max(there.error(closer)) <= 1e-6
    found = {name for r in results for name in (*r.goal_errors, *r.closure_errors)}
    assert found == {closer.name for closer in (*closures, *asked)}
    assert there.limit_excess() <= 0.0
    return there


def place(there, link):
    """Return the pose of a link by the oracle."""
    return there.world(link)


def walking():
    """Return a floating body with two legs of six values, and goals for body and feet."""
    m = two_legs('walking', 0.85)
    for side in 'lr':
        m.goal(f'{side}_goal', f'{side}_foot')
    m.goal('body_goal', 'body')
    return m


def test_planted_foot_stays_while_other_foot_steps():
    """Over several steps forward."""
    m = walking()
    solver = m.solver()
    for side, y in (('l', 0.1), ('r', -0.1)):
        ask(m.goals[f'{side}_goal'], (0, y, 0))
    ask(m.goals['body_goal'], (0, 0, 0.8))
    solved(m, solver)
    for goal in m.goals.values():
        goal.enabled = False
    feet = {side: weld(side, m.links['ground'], m.links[f'{side}_foot']) for side in 'lr'}
    solver.update_structure()
    for step in range(6):
        # both feet stand, the body moves over one
        side, y = (('l', 0.1), ('r', -0.1))[step % 2]
        stands = {s: place(m.naive(), m.links[f'{s}_foot']) for s in 'lr'}
        x = 0.05 * step
        ask(m.goals['body_goal'], (x, -0.5 * y, 0.78))
        there = solved(m, solver, *feet.values())
        for s in 'lr':
            np.testing.assert_allclose(place(there, m.links[f'{s}_foot']), stands[s], atol=1e-6)
        # one is lifted and put down ahead, the other stays
        undo(feet.pop(side))
        solver.update_structure()
        ask(m.goals[f'{side}_goal'], (x + 0.05, y, 0.06))
        solved(m, solver, *feet.values())
        ask(m.goals[f'{side}_goal'], (x + 0.1, y, 0.0))
        there = solved(m, solver, *feet.values())
        other = 'lr'[1 - step % 2]
        np.testing.assert_allclose(
            place(there, m.links[f'{other}_foot']), stands[other], atol=2e-6
        )
        m.goals[f'{side}_goal'].enabled = False
        feet[side] = weld(side, m.links['ground'], m.links[f'{side}_foot'])
        solver.update_structure()
    assert m.links['body'].matrix_world[0, 3] == pytest.approx(0.25, abs=1e-6)


def bench():
    """Return two arms in front of a loose box with a handle on either side."""
    m = MECHANISMS['two_arms']()
    m.root('room')
    m.joint('loose', 'room', 'X Y Z EX EY EZ', (0.5, 0.0, 0.4), link='box')
    for side, y in (('left', 0.2), ('right', -0.2)):
        m.tip(f'{side}_handle', 'box', (0, y, 0), (np.pi, 0, 0))
    return m


def test_two_arms_grasp_carry_and_release_box():
    """Released and untouched links do not move."""
    m = bench()
    solver = m.solver()
    box = m.links['box']
    lies = place(m.naive(), box)
    for side in ('left', 'right'):
        ask(m.goals[f'{side}_goal'], *split(place(m.naive(), m.links[f'{side}_handle'])))
    there = solved(m, solver)
    np.testing.assert_array_equal(place(there, box), lies)

    grips = [
        weld(f'{s}_grip', m.links[f'{s}_hand'], m.links[f'{s}_handle']) for s in ('left', 'right')
    ]
    for side in ('left', 'right'):
        m.goals[f'{side}_goal'].enabled = False
    carry = m.goal('carry', 'box')
    solver.update_structure()
    assert len(solver.chains) == 1
    for position, turn in (
        ((0.5, 0.05, 0.5), 0.0),
        ((0.45, 0.0, 0.45), 0.15),
        ((0.5, 0.1, 0.4), 0),
    ):
        ask(carry, position, (0, 0, np.sin(turn / 2), np.cos(turn / 2)))
        solved(m, solver, *grips)

    for grip in grips:
        undo(grip)
    carry.enabled = False
    solver.update_structure()
    lies = place(m.naive(), box)
    for side, y in (('left', 0.5), ('right', -0.5)):
        ask(
            m.goals[f'{side}_goal'],
            (0.35, y, 0.6),
            split(place(m.naive(), m.links[f'{side}_hand']))[1],
        )
    assert len(solver.solve()) == 2
    there = solved(m, solver)
    np.testing.assert_array_equal(place(there, box), lies)
    np.testing.assert_allclose(split(lies)[0], (0.5, 0.1, 0.4), atol=1e-6)
