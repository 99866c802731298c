"""`reach`: how well a point can be moved about, against Jacobians in closed form."""

import numpy as np
import pytest
from support.planar_reach import CRANK, CRANK_AT, FORE, HALF, ROD, two_bars, UPPER, wrapped


def test_conditioning_of_the_arm_agrees_with_its_formula(arm, run):
    _, _, _, rows = run(arm, '--link', 'tip', '--grid', 30, '--joints')
    reached = [row for row in rows if row['status'] == 'CONVERGED']
    assert len(reached) > 300
    for row in reached[::20]:
        a, b = float(row['shoulder']), float(row['shoulder']) + float(row['elbow'])
        fore = FORE * np.array((-np.sin(b), np.cos(b)))
        jacobian = np.column_stack((UPPER * np.array((-np.sin(a), np.cos(a))) + fore, fore))
        wanted = 1.0 / np.linalg.cond(jacobian)
        assert float(row['conditioning']) == pytest.approx(wanted, abs=1e-6)
    assert {row['conditioning'] for row in rows if row['status'] != 'CONVERGED'} == {''}


def test_conditioning_counts_the_motors(fivebar, run):
    """That of a five-bar is by its two cranks, as differences of the closed formula give it."""
    _, _, _, rows = run(fivebar, '--link', 'tool_link', '--grid', 30, '--joints')
    looked_at = 0
    for row in [row for row in rows if row['status'] == 'CONVERGED'][::10]:
        x, y = float(row['x']), float(row['y'])
        way = 1e-6
        rates = np.empty((2, 2))
        for side, sign in enumerate((-1.0, 1.0)):
            joint = float(row[('left_shoulder', 'right_shoulder')[side]])
            here = list(two_bars(-sign * x + HALF, y, CRANK, ROD))
            bend = int(abs(wrapped(here[1][0] - CRANK_AT + sign * joint)) < 1e-5)
            for k, step in enumerate(((way, 0.0), (0.0, way))):
                after, before = (
                    list(two_bars(-sign * (x + s * step[0]) + HALF, y + s * step[1], CRANK, ROD))[
                        bend
                    ][0]
                    for s in (1.0, -1.0)
                )
                rates[side, k] = wrapped(after - before) / (2.0 * way)
        if np.isfinite(rates).all():
            looked_at += 1
            assert float(row['conditioning']) == pytest.approx(
                1.0 / np.linalg.cond(rates), abs=1e-4
            )
    assert looked_at > 20
