"""`reach`: what is in its picture, and that a table needs none."""

import sys

from ik_node.cli.main import main
import numpy as np
import pytest


def pixels(path):
    from matplotlib.image import imread

    return np.round(255.0 * imread(path)[..., :3]).astype(int)


def test_picture_is_written(fivebar, tmp_path, monkeypatch, capsys):
    """By the names of robot and link both files are written; the map has its colours."""
    pytest.importorskip('matplotlib')
    monkeypatch.chdir(tmp_path)
    assert main(['reach', str(fivebar), '--link', 'tool_link', '--grid', '40']) == 0
    assert 'fivebar_tool_link_reach.csv, fivebar_tool_link_reach.png' in capsys.readouterr().out
    assert len((tmp_path / 'fivebar_tool_link_reach.csv').read_text().splitlines()) > 1000
    shown = pixels(tmp_path / 'fivebar_tool_link_reach.png')
    height, width, _ = shown.shape
    assert width > height > 700
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 1000
    tool = np.all(shown == (0xF0, 0x50, 0x2D), axis=2)
    assert 20 < tool.sum() < 2000
    # Coloured by the map, between blue and yellow, is about the share that it has of the picture.
    coloured = np.ptp(shown, axis=2) > 60
    assert 0.1 < coloured.mean() < 0.6


def test_picture_is_coloured_up_to_border_of_reach(arm, tmp_path):
    pytest.importorskip('matplotlib')
    path = tmp_path / 'a.png'
    words = ['--link', 'tip', '--grid', '40', '--plot', str(path)]
    assert main(['reach', str(arm), *words]) == 0
    shown = pixels(path)
    ground = np.all(shown == (0xF2, 0xF4, 0xF7), axis=2)
    columns, rows = (np.flatnonzero(ground.sum(axis=axis) > 50) for axis in (0, 1))
    left, right, top, bottom = columns[0], columns[-1], rows[0], rows[-1]
    scale = (right - left) / (2.0 * (0.8 + 0.06 * 1.6))
    middle = 0.5 * (left + right), 0.5 * (top + bottom)
    y, x = np.mgrid[top : bottom + 1, left : right + 1]
    radius = np.hypot(x - middle[0], y - middle[1]) / scale
    part = shown[top : bottom + 1, left : right + 1]
    coloured = np.ptp(part, axis=2) > 60
    assert coloured[(radius > 0.25) & (radius < 0.75)].mean() > 0.9
    assert not coloured[radius > 0.83].any()


def test_a_table_needs_no_matplotlib(arm, run, monkeypatch):
    """One line says what to install for a picture; without one none is needed."""
    monkeypatch.setitem(sys.modules, 'matplotlib.figure', None)
    code, _, err, rows = run(arm, '--link', 'tip', '--plot', run.out.with_name('a.png'))
    assert (code, rows) == (2, [])
    assert "pip install 'ik_node[plot]'" in err
    code, _, _, rows = run(arm, '--link', 'tip', '--grid', 5)
    assert (code, len(rows)) == (0, 25)
