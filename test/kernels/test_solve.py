"""The end of a solve: its status is what the residuals say."""

from ik_node.solver.status import Status
import numpy as np
import pytest
from support.kernel_calls import Rows, status_of_end
from support.mechanisms import MECHANISMS


@pytest.mark.parametrize(
    ('error', 'status'),
    [(0.0, Status.CONVERGED), (1e-3, Status.STALLED), (np.nan, Status.STALLED)],
)
def test_converged_is_taken_back_when_a_residual_is_not_within_tolerance(error, status):
    """What a solve believed before its last steps does not count at its end."""
    assert Status(status_of_end(Rows(MECHANISMS['fivebar']()), error)) is status
