"""Real robots solved for published configurations, from home and from bent starts."""

import json

from ik_node.native import is_compiled
from ik_node.robot import load_robot
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.naive import Naive, pose
from support.truth_sets import TRUTH_SETS

ASKED = 1e-6
# Plain Python is a hundred times slower: some of the poses are for coverage.
STRIDE = 1 if is_compiled() else 20


class Known:
    """A truth set with its robot, its goals and a solver."""

    def __init__(self, name, shared):
        self.truth = json.loads((shared / 'truth' / f'{name}.json').read_text())
        annotations = self.truth.get('closures_yaml')
        self.robot = load_robot(
            shared / self.truth['model'],
            closures=shared / annotations if annotations else None,
            assemble=False,
        )
        for frame in self.truth['goal_frames']:
            offset = (frame['xyz'], frame['quat_xyzw'])
            self.robot.add_goal(frame['link'], name=f'goal_{frame["name"]}', offset=offset)
        self.solver = Solver(self.robot, SolverOptions())
        self.order = [self.truth['joints'].index(n) for n in self.solver.joint_names]

    def q(self, entry):
        """Return a pose's values in the order of q."""
        return np.array(entry['q'])[self.order]

    def goals(self, entry):
        """Return the goals of a pose for `solve_pose`."""
        return {
            f'goal_{name}': (frame['xyz'], frame['quat_xyzw'])
            for name, frame in entry['frames'].items()
        }

    def solves(self, entry, start):
        """Solve for a pose, verify the answer, and return True if the pose was reached."""
        goals = self.goals(entry)
        solution = self.solver.solve_pose(goals, start)
        values = dict(zip(self.solver.joint_names, solution.q, strict=True))
        there = Naive(self.robot.roots, values)
        assert there.limit_excess() <= 1e-12
        assert there.coupling_gap() <= 1e-12
        for name in self.robot.closures:
            assert max(there.error(there.closers[name])) <= ASKED + 1e-12, name
        met = all(
            max(there.error(there.closers[name], wanted)) <= ASKED + 1e-12
            for name, wanted in goals.items()
        )
        assert met == (solution.status is Status.CONVERGED)
        for frame in self.truth['goal_frames'] if met else ():
            world = there.world(self.robot.links[frame['link']])
            wanted = entry['frames'][frame['name']]
            np.testing.assert_allclose(
                world @ pose(frame['xyz'], frame['quat_xyzw']),
                pose(wanted['xyz'], wanted['quat_xyzw']),
                atol=3e-6,
            )
        return met


@pytest.fixture(scope='module', params=TRUTH_SETS)
def known(request, shared):
    """Return each truth set in turn."""
    return Known(request.param, shared)


def test_every_pose_is_reached_from_home(known):
    """Loops, limits and goals hold at every pose, starting from the first."""
    home = known.q(known.truth['poses'][0])
    reached = [known.solves(entry, home) for entry in known.truth['poses'][::STRIDE]]
    assert all(reached)


def test_poses_are_reached_from_open_starts(known):
    """Every joint of the start is off by up to 0.2, and the loops are open."""
    rng = np.random.default_rng(11)
    home = known.q(known.truth['poses'][0])
    low, high = known.robot.lower, known.robot.upper
    for entry in known.truth['poses'][:: 8 * STRIDE]:
        start = np.clip(home + rng.uniform(-0.2, 0.2, home.size), low, high)
        assert known.solves(entry, start)


def test_start_at_solution_converges_without_step(known):
    """A start at the pose itself is CONVERGED without a step."""
    for entry in known.truth['poses'][::10]:
        solution = known.solver.solve_pose(known.goals(entry), known.q(entry))
        assert solution.status is Status.CONVERGED
        assert solution.iterations == 0
