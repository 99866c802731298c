"""Efforts that hold mechanisms still agree with MuJoCo."""

import pytest
import statics

needs_mujoco = pytest.mark.skipif(statics.mujoco is None, reason='MuJoCo is not installed')


@needs_mujoco
@pytest.mark.parametrize('name', ['ankle', 'excavator', 'delta'])
def test_holding_efforts_agree_with_mujoco(name):
    row = statics.compared(name, 5, 1)
    assert row.gap < 1e-11
    assert row.largest > 0.1
    assert row.is_fine, row
