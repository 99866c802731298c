"""
A viser page with only a gizmo and a box that follows it, as a lower bound.

The time of a drag on this page is the share of viser and the browser in the time on any page.
"""

from __future__ import annotations

import sys
import threading

import viser

LINK = 'box'
HOME = (0.0, 0.0, 0.3)  # [m]
SIZE = 0.2  # of the gizmo [m]
EYE = (0.66, -0.84, 0.48)  # from where it is seen [m]


def main() -> int:
    """Serve the page until the process is ended."""
    server = viser.ViserServer(host='127.0.0.1', port=int(sys.argv[1]), verbose=False)
    body = server.scene.add_frame(f'/bodies/{LINK}', show_axes=False)
    body.position = HOME
    server.scene.add_box(f'/bodies/{LINK}/0', dimensions=(0.2, 0.2, 0.05))
    server.initial_camera.position, server.initial_camera.look_at = EYE, HOME
    gizmo = server.scene.add_transform_controls(f'/gizmos/{LINK}', scale=SIZE, position=HOME)

    @gizmo.on_update
    async def _(event: object) -> None:
        body.position, body.wxyz = gizmo.position, gizmo.wxyz
        server.flush()

    print(f'open http://127.0.0.1:{server.get_port()}', flush=True)
    threading.Event().wait()
    return 0


if __name__ == '__main__':
    sys.exit(main())
