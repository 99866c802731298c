"""The seeds of the fuzzers are read, and inputs of past failures raise only an IkError."""

from judging import FAILURES, judge, SEEDS
import pytest


@pytest.mark.parametrize('dialect', sorted(path.name for path in SEEDS.iterdir()))
def test_every_fuzz_seed_is_a_robot(dialect):
    """Fuzzing starts from valid inputs."""
    assert judge(dialect, (SEEDS / dialect).read_bytes())


@pytest.mark.parametrize('failure', sorted(path.name for path in FAILURES.glob('*-*-*')))
def test_past_failure_is_refused_or_sound_robot(failure):
    """The file is named DIALECT-KIND-DIGEST."""
    judge(failure.split('-')[0], (FAILURES / failure).read_bytes())
