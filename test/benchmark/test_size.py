"""Scaled truth sets and scenarios are solved as often and in as many steps as unscaled ones."""

from ik_node.native import is_compiled
import pytest
from size import all_cases, FACTORS, Outcome, run

# `bench size` takes every problem.
STRIDE = 40 if is_compiled() else 200


@pytest.fixture(scope='module')
def cases(shared):
    assert shared.is_dir()
    return [(case, run(case, 1.0, stride=STRIDE)) for case in all_cases()]


def together(outcomes):
    total = [Outcome(), Outcome(), Outcome()]
    for found in outcomes:
        for into, part in zip(total, found, strict=True):
            into.extend(part)
    return total


@pytest.mark.parametrize('factor', [min(FACTORS), max(FACTORS)])
def test_size_changes_neither_success_nor_steps(cases, factor):
    before = together(base for _, base in cases)
    found = together(run(case, factor, stride=STRIDE) for case, _ in cases)
    home, anywhere, driven = found
    assert home.share == 100.0
    assert anywhere.share >= 99.9
    assert driven.share >= before[2].share
    for scaled, unscaled in zip(found, before, strict=True):
        assert len(scaled.steps) == len(unscaled.steps) > 20
        assert scaled.mean_steps == pytest.approx(unscaled.mean_steps, rel=0.2)
