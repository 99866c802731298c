"""Samples of configurations with closed loops within limits."""

from collections import Counter
import re

import ik_node as ik
from ik_node.cli.main import main
import numpy as np
import pytest


def largest_gap(robot, q):
    """Return the largest distance of the two frames of a closure [m], by forward kinematics."""
    gaps = []
    for closure in robot.closures.values():
        a, b = closure.child, closure.parent
        ends = robot.forward(q, a.name) @ [*closure.offset_position, 1]
        there = robot.forward(q, b.name) @ [*closure.position, 1]
        gaps.append(np.linalg.norm(ends - there, axis=1).max())
    return max(gaps)


@pytest.mark.parametrize('name', ['fivebar', 'hexapod', 'delta', 'gripper', 'walker'])
@pytest.mark.parametrize('spread', ['joints', 'workspace'])
def test_states_close_all_loops_within_limits(name, spread):
    """For robots with legs, motors and couplings."""
    robot = ik.load_robot(name)
    q = robot.sample(200, seed=1, spread=spread, threads=1)
    assert q.shape == (200, len(robot.joint_names))
    assert ((robot.lower <= q) & (q <= robot.upper)).all()
    assert largest_gap(robot, q) < 3e-6
    assert len(np.unique(q.round(6), axis=0)) > 150


def test_motors_spread_over_their_range_and_the_seed_decides():
    """As far as the loops close: each quarter of the range of a motor has its states."""
    robot = ik.load_robot('hexapod')
    q = robot.sample(4000, seed=2)
    motors = q[:, [robot.joint_names.index(name) for name in robot.actuated]]
    low, high = motors.min(axis=0), motors.max(axis=0)
    quarters = np.floor(4 * (motors - low) / (high - low) * 0.9999).astype(int)
    shares = np.stack([(quarters == k).mean(axis=0) for k in range(4)])
    assert shares.min() > 0.005
    assert robot.sample(50, seed=2).tobytes() == robot.sample(50, seed=2, threads=1).tobytes()


def test_states_of_the_workspace_are_spread_more_evenly():
    """Cells of the space that the platform reaches have more equal numbers of states."""
    robot = ik.load_robot('fivebar')
    spread = {}
    for kind in ('joints', 'workspace'):
        at = robot.forward(robot.sample(3000, spread=kind, link='tool_link'), 'tool_link')[
            :, :3, 3
        ]
        _, counts = np.unique(np.floor(at / 0.05), axis=0, return_counts=True)
        spread[kind] = counts.std() / counts.mean()
    assert spread['workspace'] < 0.8 * spread['joints']


def test_states_keep_away_from_bodies_and_are_not_drawn_to_them():
    """They are the free ones of the same distribution."""
    robot = ik.load_robot('fivebar')
    middle = np.median(robot.forward(robot.sample(500), 'tool_link')[:, :3, 3], axis=0)
    robot.collisions.add_body('tool_link', ik.Sphere(0.02))
    robot.collisions.add_obstacle(ik.Sphere(0.06), (middle, (0, 0, 0, 1)))
    q = robot.sample(800, seed=1)
    gaps = np.array([robot.collisions.nearest(each).d for each in q])
    assert gaps.min() >= 0.0
    assert (gaps < 1e-4).mean() < 0.02
    away = robot.sample(100, seed=1, avoid_collisions=True, collision_margin=0.03)
    assert min(robot.collisions.nearest(each).d for each in away) >= 0.03 - 1e-6


def test_states_are_in_the_mode_that_is_chosen():
    """Another mode that states have, and one that none has."""
    robot = ik.load_robot('fivebar')
    solver = ik.Solver(robot)
    modes = Counter(map(solver.mode_of, robot.sample(300)))
    rarest = min(modes, key=modes.__getitem__)
    assert len(modes) > 1
    assert {solver.mode_of(q) for q in robot.sample(40, mode=rarest)} == {rarest}
    with pytest.raises(ik.errors.OptionError, match=re.escape(rarest)):
        robot.sample(3, mode='0/00')


def test_command_writes_states(tmp_path, capsys):
    """With the names of the joints."""
    out = tmp_path / 'states.npz'
    assert main(['states', 'fivebar', '--count', '20', '-o', str(out)]) == 0
    assert '20 states' in capsys.readouterr().out
    with np.load(out) as file:
        assert file['q'].shape == (20, 4)
        assert file['names'].tolist() == ik.load_robot('fivebar').joint_names
    assert main(['states', 'fivebar', '-o', 'states.txt']) == 2
    assert main(['states', 'fivebar', '--mode', '0/00', '-o', str(out)]) == 2


def test_wrong_arguments_are_refused():
    """The message names the argument."""
    robot = ik.load_robot('fivebar')
    with pytest.raises(ik.errors.OptionError, match='spread'):
        robot.sample(3, spread='cells')
    with pytest.raises(ik.errors.OptionError, match='count'):
        robot.sample(0)
