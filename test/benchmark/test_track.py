"""The comparison with an earlier version fails if a case has become slower."""

from pathlib import Path

import pytest
import track


@pytest.mark.parametrize(('now', 'code'), [(10.9, 0), (11.1, 1), (5.0, 0)])
def test_case_slower_by_more_than_ten_percent_fails(monkeypatch, capsys, tmp_path, now, code):
    """A slow case is measured again, and fails if it is slow again."""
    measured = []

    def compare(old, new, rounds):
        measured.append(rounds)
        return {'arm': (10.0, now), 'leg': (3.0, 3.0)}

    monkeypatch.setattr(track, 'compare', compare)
    assert track.main([str(tmp_path), '--rounds', '4']) == code
    assert measured == ([4, 8] if code else [4])
    assert ('10 %: arm' in capsys.readouterr().out) == bool(code)


def test_slow_start_of_one_measurement_does_not_fail(monkeypatch, tmp_path):
    """The second measurement counts."""
    answers = [{'arm': (10.0, 20.0)}, {'arm': (10.0, 10.1)}]
    monkeypatch.setattr(track, 'compare', lambda *_: answers.pop(0))
    assert track.main([str(tmp_path)]) == 0


def test_version_compared_with_itself_is_as_fast(monkeypatch):
    """Both workers solve every case; the bound is wide, because it is one short round."""
    monkeypatch.setattr(track, 'SECONDS', 0.02)
    root = Path(track.__file__).resolve().parents[1]
    found = track.compare(root, root, 1)
    assert set(found) == set(track.CASES)
    assert all(0.05 < new / old < 20.0 for old, new in found.values())


def test_folder_without_the_package_is_refused(tmp_path):
    """Otherwise the checkout would be compared with itself."""
    with pytest.raises(SystemExit, match='no ik_node'):
        track.compare(tmp_path, tmp_path, 1)
