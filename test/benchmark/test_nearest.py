"""The benchmark of goals out of reach: its own kinematics, and some of its goals."""

from nearest import cases, measure, Searches
import numpy as np
import pytest

CASES = cases()


@pytest.mark.parametrize('name', CASES)
def test_rows_have_the_slopes_of_their_differences(name):
    """The Jacobian that SciPy is given is that of the rows."""
    case = CASES[name]
    searches, q = Searches(case), case.home + np.random.default_rng(0).uniform(-0.05, 0.05)
    slopes = np.concatenate(searches.rows(q)[2:])
    for column, step in enumerate(1e-6 * np.eye(q.size)):
        after, before = (np.concatenate(searches.rows(q + sign * step)[:2]) for sign in (1, -1))
        np.testing.assert_allclose((after - before) / 2e-6, slopes[:, column], atol=1e-8)


@pytest.mark.parametrize(('name', 'searches'), [('ur5', 20), ('fivebar', 20), ('3-UPU', 5)])
def test_no_search_gets_nearer(name, searches):
    """A few goals of the benchmark: loops closed, limits kept, one per cent from the best."""
    row = measure(name, CASES[name], 4, searches)
    assert max(row.shares) <= 1.01
    assert (row.open_loops, row.beyond_limits) == (0, 0)
