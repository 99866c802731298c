"""
Take screenshots of ten robots on the page, and join them to one picture per look.

`tools/drill.sh screenshots` writes docs/pictures/page_*.webp: two sizes of the window, light and
dark. Each robot must fill half of the view and be under no panel.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from support.waiting import wait_until

Image = pytest.importorskip('PIL.Image')

ROBOTS = (
    *('hexapod', 'delta', 'excavator', 'scissor_lift', 'two_arms_one_box'),
    *('rocker_bogie', 'strandbeest', 'climber', 'dh_arm', 'chain100'),
)
# Name, size of the window [px], size in the sheet, columns of the sheet.
LOOKS = (('laptop', (1280, 800), (480, 300), 5), ('phone', (390, 844), (195, 422), 10))
GAP = 8  # between screenshots [px]
QUALITY = 62
BACKGROUND = {'light': (255, 255, 255), 'dark': (20, 22, 26)}


def still(browser):
    seen = []

    def same():
        seen.append(browser.picture())
        return len(seen) > 1 and np.array_equal(seen[-1], seen[-2])

    wait_until(same, 'a picture that stands still')
    return Image.fromarray((255 * seen[-1]).round().astype(np.uint8))


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('look', LOOKS, ids=lambda look: look[0])
def test_robots_fill_the_view(repository, open_page, open_browser, open_window, look, scheme):
    name, size, small, columns = look
    rows = -(-len(ROBOTS) // columns)
    corner = np.array(small) + GAP
    sheet = Image.new('RGB', tuple(corner * (columns, rows) - GAP), BACKGROUND[scheme])
    whole = Path(os.environ.get('SCREENSHOTS', '') or '/nowhere')
    for at, robot in enumerate(ROBOTS):
        window = open_window(open_page(robot), size, scheme)
        right, bottom = window.free_view()
        found = window.robot_pixels()
        filled = np.ptp(found, axis=0) / (right, bottom)
        share = f'{filled[0]:.0%} x {filled[1]:.0%} of the view'
        print(f'{robot} {name} {scheme}: {share}', flush=True)
        picture = still(window.browser)
        window.browser.close()
        if whole.is_dir():
            picture.save(whole / f'{robot}_{name}_{scheme}.png')
        place = tuple(int(each) for each in corner * (at % columns, at // columns))
        sheet.paste(picture.resize(small, Image.Resampling.LANCZOS), place)
        assert (found.min(axis=0) > 0.0).all(), robot
        assert (found.max(axis=0) < (right, bottom)).all(), robot
        assert filled.max() > 0.5, robot
    path = repository / 'docs' / 'pictures' / f'page_{name}_{scheme}.webp'
    sheet.save(path, quality=QUALITY, method=6)
