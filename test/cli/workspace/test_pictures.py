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


def test_a_table_needs_no_matplotlib(arm, run, monkeypatch):
    """One line says what to install for a picture; without one none is needed."""
    monkeypatch.setitem(sys.modules, 'matplotlib.figure', None)
    code, _, err, rows = run(arm, '--link', 'tip', '--plot', run.out.with_name('a.png'))
    assert (code, rows) == (2, [])
    assert "pip install 'ik_node[plot]'" in err
    code, _, _, rows = run(arm, '--link', 'tip', '--grid', 5)
    assert (code, len(rows)) == (0, 25)
