"""Files of pictures: which kinds there are, and what is said without matplotlib."""

import sys

from ik_node.errors import OptionError
from ik_node.scene.plot import picture_maker, save_picture
import pytest

pytest.importorskip('matplotlib')


def test_a_figure_is_saved(tmp_path):
    """Of the size that is asked for, with letters that no font has."""
    from matplotlib.image import imread

    path = tmp_path / 'a.PNG'
    figure = picture_maker('--plot', path)(figsize=(2.0, 1.0))
    figure.text(0.1, 0.1, '\U0001f9be')
    save_picture(figure, path, dpi=50)
    assert imread(path).shape[:2] == (50, 100)


@pytest.mark.parametrize('path', ['a.guess', 'png', '', 'a.png/b'])
def test_unknown_picture_formats_are_refused(path):
    """By the ending alone, before anything is drawn; those that are known are listed."""
    with pytest.raises(OptionError, match=r'^--plot: .*a file that ends in \..*\.png') as caught:
        picture_maker('--plot', path)
    assert caught.value.name == '--plot'


def test_missing_matplotlib_is_reported(monkeypatch):
    """What to install is said, and how to do without."""
    monkeypatch.setitem(sys.modules, 'matplotlib.figure', None)
    wanted = (
        r"only with matplotlib: `pip install 'ik_node\[plot\]'` or python3-matplotlib; -o .*none$"
    )
    with pytest.raises(OptionError, match=wanted):
        picture_maker('--plot', 'a.png', hint='; -o needs none')
