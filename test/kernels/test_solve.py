"""The final status of a solve follows from its residuals."""

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
