"""Reachable goals from random starts, as in the benchmark of this name."""

from ik_node.native import is_compiled
import numpy as np
import pytest
from random_starts import KINDS, random_problems, random_rows, solved_and_wrong
from tasks.judge import errors, forward, limit_excess
from tasks.random_mechanisms import MAKERS


def test_witness_of_every_goal_closes_loops_within_limits():
    for _, make in KINDS.values():
        problems = make(20, np.random.default_rng(0))
        nothing = np.zeros((20, 0, 7))
        assert errors(problems.mechanism, [], nothing, problems.witness).max() < 1e-13
        assert limit_excess(problems.mechanism, problems.witness).max() == 0.0
        assert problems.link in forward(problems.mechanism, problems.witness)


@pytest.mark.skipif(not is_compiled(), reason='millions of steps')
@pytest.mark.parametrize(('name', 'least'), [('scissor6', 58), ('panda', 60)])
def test_folded_chains_reach_most_goals(name, least):
    """The default restarts solve a minimum number of sixty goals, none of them wrongly."""
    problems = KINDS[name][1](60, np.random.default_rng(1))
    solved, wrong = solved_and_wrong(problems, 1)
    assert solved.sum() >= least
    assert not wrong.any()


@pytest.mark.parametrize('name', MAKERS)
def test_random_mechanisms_have_reachable_goals_and_two_rows(name):
    """Their loops are closed within the limits, and most of their goals are found."""
    problems = random_problems(name, 3, 20, 1)
    assert len(problems.witness) > 10
    nothing = np.zeros((len(problems.witness), 0, 7))
    assert errors(problems.mechanism, [], nothing, problems.witness).max() < 1e-9
    assert limit_excess(problems.mechanism, problems.witness).max() == 0.0
    rows = random_rows(name, 2, 5, 1)
    assert [row.split()[3] for row in rows] == ['home', 'random']
    assert all(row.split()[5] == '100.000%' for row in rows)
