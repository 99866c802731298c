"""The final status of a solve follows from its residuals."""

from ik_node.kernels import policy
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.kernel_calls import Rows, status_of_end
from support.mechanisms import MECHANISMS


@pytest.mark.parametrize(
    ('error', 'status'),
    [(0.0, Status.CONVERGED), (1e-3, Status.STALLED), (np.nan, Status.STALLED)],
)
def test_converged_is_revoked_if_final_residual_exceeds_tolerance(error, status):
    """The last steps of a solve may invalidate an earlier success."""
    assert Status(status_of_end(Rows(MECHANISMS['fivebar']()), error)) is status


def test_every_pass_of_the_policy_begins_and_leads_to_the_end():
    """By the table of what follows, and by what may follow the entries that are no passes."""
    passes = range(len(policy.PROMISE))
    assert len(policy.PATIENCE) == len(passes)
    assert len(policy.FOLLOWS) == policy.EVENTS * len(passes)
    after = {
        each: set(policy.FOLLOWS[policy.EVENTS * each : policy.EVENTS * (each + 1)])
        for each in passes
    } | {
        policy.COLLECT: {policy.DRAW},
        policy.DRAW: {policy.SEARCH, policy.WALK, policy.IMPROVE},
        policy.IMPROVE: {policy.TOLERATE, policy.NEAR, policy.FAR, policy.BEST},
        policy.COMPARE: {policy.PUSHED, policy.FAR, policy.BEST, policy.SETTLE},
    }

    def reached(first):
        seen, ahead = set(), [first]
        while ahead:
            each = ahead.pop()
            if each not in seen:
                seen.add(each)
                ahead.extend(after.get(each, ()))
        return seen

    assert reached(policy.SEARCH) == {*after, policy.SETTLE}
    assert all(policy.SETTLE in reached(each) for each in passes)
