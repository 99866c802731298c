"""
A solver whose robot is edited gives the answers of a new solver, and never fails.

`tools/drill.sh edits` makes a hundred thousand edits of two hundred robots.
"""

import os

from ik_node.errors import OptionError, TopologyError
from ik_node.model.joint import Joint
from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import pytest
from support.edited_robot import Dice, EditedRobot, EDITS
from support.mechanisms import MECHANISMS

EDITS_IN_ALL = int(os.environ.get('IK_NODE_EDITS', '250'))


@pytest.mark.parametrize('seed', range(1, 1 + max(1, EDITS_IN_ALL // 500)))
def test_edited_robot_is_solved_like_new_one(seed):
    """After each of hundreds of edits the solver is compared with a new one."""
    dice, count = Dice(seed), min(500, EDITS_IN_ALL) if is_compiled() else 50
    robot = EditedRobot(dice, SolverOptions(max_iterations=10, restarts=0))
    for _ in range(count):
        getattr(robot, dice.one(EDITS))()
        robot.check()
        robot.solve()
    assert robot.solved > 0.2 * count


def same_name_twice(m):
    """Give two goals one name; return an undo function and the expected error."""
    again = m.goal('end_goal', 'p1_link')
    m.goals['end_goal'] = m.roots[1]
    return lambda: (again.remove_child(again.child), m.roots.remove(again)), TopologyError


def impossible_coupling(m):
    """Couple two joints whose limits leave no common value."""
    m.joint('side', 'p1_link', 'EX').set_limits('EX', 5, 6)
    m.joints['side'].couple('EX', m.joints['p1'], 'EZ', (0, 1))
    return lambda: m.joints['side'].set_limits('EX', -6, 6), OptionError


def constant_beyond_limits(m):
    """Couple a joint to a constant outside its limits."""
    m.joints['p3'].couple('EZ', m.joints['p2'], 'EZ', (5.0,))
    return lambda: m.joints['p3'].uncouple('EZ'), OptionError


def lost_master(m):
    """Couple a joint to one outside every graph."""
    stranger = Joint('stranger')
    stranger.set_dof('EZ')
    m.joints['p3'].couple('EZ', stranger, 'EZ', (0, 1))
    return lambda: m.joints['p3'].uncouple('EZ'), TopologyError


@pytest.mark.parametrize(
    'spoil', [same_name_twice, impossible_coupling, constant_beyond_limits, lost_master]
)
def test_unsolvable_graph_raises_error_until_repaired(spoil):
    """No call solves the earlier graph; calls that need no solve continue to work."""
    m = MECHANISMS['planar']()
    for name in ('p1', 'p3'):
        m.joints[name].set_limits('EZ', -1.7, 1.7)
    solver = m.solver()
    goals = {'end_goal': ((1.0, 1.5, 0.0), (0, 0, 0, 1))}
    call = solver.prepare(['end_goal'])
    mend, error = spoil(m)
    q0 = (0.3, 0.5, -0.4)
    for attempt in (
        solver.update_structure,
        solver.solve,
        lambda: solver.solve_pose(goals, q0),
        lambda: call(*goals['end_goal'], q0),
        lambda: solver.drive({}, q0),
        lambda: solver.q,
        lambda: solver.joint_names,
    ):
        with pytest.raises(error):
            attempt()
    mend()
    m.joint('more', 'end', 'EX')
    assert 'more' in solver.joint_names
    assert call(*goals['end_goal']).status is Status.CONVERGED
    assert solver.solve_pose(goals).status is Status.CONVERGED
