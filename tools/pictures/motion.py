"""
Draw docs/pictures/motion_humanoid.png: `tools/run python -m tools.pictures.motion`.

The humanoid of the gallery follows a generated person that walks; the red dots are the key points.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
import sys

from ik_node import load_robot, Solver, SolverOptions
from ik_node.description.files import description_path
from ik_node.model.rotation import pose_matrix
from ik_node.motion.mapping import read_map
from ik_node.motion.read import read_motion
import numpy as np
from PIL import Image

from tools.pictures.__main__ import few_colours, RED
from tools.pictures.solids import ball, solids_of
from tools.pictures.stage import Stage

CHECKOUT = Path(__file__).resolve().parents[2]
SIZE = (1200, 560)
# Frames that are shown, and how far apart they stand beside the way that the robot walks [m].
FRAMES, ASIDE = (70, 140, 210, 280), 0.35
DOT = 0.022  # [m]
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def main() -> int:
    """Solve the motion and draw some of its frames."""
    parser = argparse.ArgumentParser(prog='tools.pictures.motion', description=__doc__)
    parser.add_argument('motion', type=Path, help='a .bvh of benchmark/human_motion.py')
    parser.add_argument('-o', type=Path, default=Path('docs/pictures/motion_humanoid.png'))
    args = parser.parse_args()
    path = description_path('humanoid.urdf')
    robot, mapping = load_robot(path), read_map(CHECKOUT / 'config' / 'humanoid_motion.yaml')
    mapping.add_goals(robot)
    poses = mapping.poses(read_motion(args.motion))
    solved = Solver(robot, SolverOptions(restarts=0)).solve_path(poses, dt=1.0 / 60.0)
    solids, marks = [], []
    for number, frame in enumerate(FRAMES):
        shift = pose_matrix((number * ASIDE, 0.0, 0.0), UPRIGHT)
        for solid in solids_of(path):
            if solid.link != 'ground_link':
                solids.append(solid.moved(shift @ robot.forward(solved.q[frame], solid.link)))
        for places, _ in poses.values():
            dot = replace(ball(DOT, RED), link='')
            marks.append(dot.moved(shift @ pose_matrix(places[frame], UPRIGHT)))
    corners = np.concatenate([solid.corners.reshape(-1, 3) for solid in solids])
    stage = Stage(corners, float(corners[:, 2].min()), -75.0, 10.0, SIZE)
    pixels = np.rint(255.0 * stage.picture(solids, marks)).astype(np.uint8)
    few_colours(Image.fromarray(pixels)).save(args.o, optimize=True)
    print(args.o)
    return 0


if __name__ == '__main__':
    sys.exit(main())
