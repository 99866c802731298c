"""Rows made orthonormal: basis, rank and what undergoes the same operations."""

from ik_node.kernels.orthonormal import orthonormalise
import numpy as np
import pytest


@pytest.mark.parametrize(('count', 'width', 'rank'), [(1, 1, 1), (4, 9, 4), (7, 20, 3), (5, 2, 2)])
def test_rows_become_an_orthonormal_basis(count, width, rank):
    """Columns beyond the width show the combination of rows that each became."""
    random = np.random.default_rng(count)
    given = random.normal(size=(count, rank)) @ random.normal(size=(rank, width))
    rows = np.hstack([given, np.eye(count), np.linalg.norm(given, axis=1, keepdims=True)])
    found = orthonormalise(rows.reshape(-1), count, width, width + count + 1, 1e-9)
    assert found == rank
    basis, combined = rows[:rank, :width], rows[:rank, width:-1]
    assert basis @ basis.T == pytest.approx(np.eye(rank), abs=1e-12)
    assert combined @ given == pytest.approx(basis, abs=1e-9)
    assert given @ basis.T @ basis == pytest.approx(given, abs=1e-9)
    assert ((rows[:rank, -1] > 0.0) & (rows[:rank, -1] <= 1.0 + 1e-12)).all()
