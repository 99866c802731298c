"""The truth sets of robots read from a URDF, and the closures of each robot."""

TRUTH_SETS = {
    'abb_irb2400': 0,
    'agibot_g1': 4,
    'athlete_pinned': 6,
    'closed_loop_2bt': 1,
    'delta_clavel': 5,
    'drake_four_bar': 1,
    'fivebar_planar': 1,
    'fourbar_crank_rocker': 1,
    'gepetto_5bar': 1,
    'gepetto_5bar_3d': 1,
    'gepetto_digit_leg': 3,
    'pi_hexapod': 6,
    'planar_3rrr': 2,
    'robotiq_2f85_ros2': 0,
    'slider_crank_offset': 1,
    'ur5e': 0,
    'urdfplus_four_bar': 1,
}
