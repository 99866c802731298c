"""The seeds of the fuzzers are read; what once broke a reader breaks none any more."""

from judging import FAILURES, judge, SEEDS
import pytest


@pytest.mark.parametrize('dialect', sorted(path.name for path in SEEDS.iterdir()))
def test_seeds_are_read(dialect):
    """Every seed is a robot: fuzzing begins at something valid."""
    assert judge(dialect, (SEEDS / dialect).read_bytes())


@pytest.mark.parametrize('failure', sorted(path.name for path in FAILURES.glob('*-*-*')))
def test_past_failures(failure):
    """An input that was kept, named DIALECT-KIND-DIGEST, is refused or a sound robot."""
    judge(failure.split('-')[0], (FAILURES / failure).read_bytes())
