"""The comparison with an earlier version fails if a case has become slower."""

import pytest
import track


@pytest.mark.parametrize(('now', 'code'), [(10.9, 0), (11.1, 1)])
def test_case_slower_by_more_than_ten_percent_fails(monkeypatch, capsys, tmp_path, now, code):
    measured = []

    def compare(old, new, rounds):
        measured.append(rounds)
        return {'arm': (10.0, now), 'leg': (3.0, 3.0)}

    monkeypatch.setattr(track, 'compare', compare)
    assert track.main([str(tmp_path), '--rounds', '4']) == code
    assert measured == ([4, 8] if code else [4])
    assert ('10 %: arm' in capsys.readouterr().out) == bool(code)
