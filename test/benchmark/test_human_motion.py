"""Generated motions of people are smooth, have limbs of fixed length, and stand on the ground."""

from human_motion import ANKLE, bvh, clips, KEY_POINTS, main, RATE
from ik_node.motion.read import read_motion
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

FRAMES = 240
CLIPS = list(clips(6, FRAMES))


@pytest.mark.parametrize('clip', CLIPS[3:], ids=lambda clip: clip.name)
def test_key_points_move_without_jumps_above_the_ground(clip):
    """Nothing is faster than 3 m/s or 8 rad/s, and no foot is below its height when it stands."""
    for name in KEY_POINTS:
        speed = RATE * np.linalg.norm(np.diff(clip.positions[name], axis=0), axis=1)
        turns = clip.turns[name]
        assert speed.max() < 3.0
        assert RATE * (turns[1:] * turns[:-1].inv()).magnitude().max() < 8.0
    for foot in ('left_foot', 'right_foot'):
        assert clip.positions[foot][:, 2].min() > ANKLE - 0.01


@pytest.mark.parametrize('kind', ['.npz', '.bvh'])
def test_written_clips_are_read_back(tmp_path, kind, capsys):
    """A BVH has Y up and Z forward, in [cm], and an independent reader finds the same poses."""
    if kind == '.bvh':
        pytest.importorskip('pybvh')
    words = [str(tmp_path), '--clips', '3', '--frames', str(FRAMES)]
    assert main(words + (['--bvh'] if kind == '.bvh' else [])) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    axes = Rotation.identity()
    if kind == '.bvh':
        axes = Rotation.from_matrix([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        assert bvh(CLIPS[0]).startswith('HIERARCHY\nROOT pelvis')
    unit = 0.01 if kind == '.bvh' else 1.0
    for clip in CLIPS[:3]:
        motion = read_motion(tmp_path / f'{clip.name}{kind}')
        np.testing.assert_allclose(motion.times, np.arange(FRAMES) / RATE, atol=1e-6)
        for name in KEY_POINTS:
            point = motion.points[name]
            place = unit * axes.apply(point.positions)
            np.testing.assert_allclose(place, clip.positions[name], atol=1e-6)
            turn = axes * Rotation.from_quat(point.quats_xyzw) * axes.inv()
            assert (turn * clip.turns[name].inv()).magnitude().max() < 1e-6
