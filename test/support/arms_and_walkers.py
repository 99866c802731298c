"""Known mobility, redundant rows and motors of our arms and walkers."""

HEXAPOD = (6, 0, [f'leg{k}' for k in range(6)])
SIDES = ('left', 'right')
LEGS = ('front_left', 'front_right', 'rear_left', 'rear_right')
ROVER_LEG = ('hip_yaw', 'hip_pitch', 'knee_pitch', 'knee_roll', 'ankle_pitch', 'ankle_roll')
BIPED_LEG = ('hip_yaw', 'hip_roll', 'hip_pitch', 'knee', 'ankle_pitch', 'ankle_roll')
HUMANOID_LEG = ('hip_yaw', 'hip_roll', 'hip_pitch', 'knee_motor')
HUMANOID_LEG += ('ankle_motor_in', 'ankle_motor_out')
HUMANOID_ARM = ('shoulder_pitch', 'shoulder_roll', 'shoulder_yaw', 'elbow')
HUMANOID_ARM += ('wrist_roll', 'wrist_pitch', 'wrist_yaw')
CLIMBER_ARM = ('shoulder_roll', 'shoulder_pitch', 'arm_roll', 'elbow')
CLIMBER_ARM += ('forearm_roll', 'wrist_pitch', 'wrist_yaw')
ARM = ('yaw', 'shoulder', 'elbow', 'roll', 'wrist', 'hand')

ARMS_AND_WALKERS = {
    'hexapod_gyrate': HEXAPOD,
    'hexapod_rotate': HEXAPOD,
    'hexapod_tilt': HEXAPOD,
    'partial_goal_arm': (6, 0, [f'hinge{k}' for k in range(1, 7)]),
    'arm6': (6, 0, [f'j{k}' for k in range(1, 7)]),
    'arm_at_shelf': (6, 0, [f'j{k}' for k in range(1, 7)]),
    'rover_arm': (5, 0, ['azimuth', 'shoulder', 'elbow', 'wrist', 'turret']),
    'dh_arm': (6, 0, [f'joint{k}' for k in range(1, 7)]),
    'ccd_arm': (5, 0, [f'joint{k}' for k in range(1, 6)]),
    'gradient_arm': (4, 0, ['yaw', 'shoulder', 'elbow', 'wrist']),
    'chain100': (100, 0, [f'j{k}' for k in range(1, 101)]),
    # Six of the body, whose legs have six hinges each and follow.
    'six_legged_rover': (6, 0, [f'leg{k}_{hinge}' for k in range(6) for hinge in ROVER_LEG]),
    # Six of the body, the knees, which swing round while the body stands still, and both arms.
    'climber': (
        22,
        0,
        [f'{side}_joint{k}' for side in SIDES for k in range(7)]
        + [f'{side}_{hinge}' for side in SIDES for hinge in CLIMBER_ARM],
    ),
    'biped': (6, 0, [f'{side}_{hinge}' for side in SIDES for hinge in BIPED_LEG]),
    # Six of the pelvis, three of the waist, two of the neck, six of each leg, seven of each arm.
    'humanoid': (
        37,
        0,
        ['waist_yaw', 'waist_roll', 'waist_pitch', 'neck_yaw', 'neck_pitch']
        + [f'{side}_{motor}' for side in SIDES for motor in HUMANOID_LEG]
        + [f'{side}_{hinge}' for side in SIDES for hinge in HUMANOID_ARM],
    ),
    # Six of the body and six of the arm.
    'quadruped_arm': (
        12,
        0,
        [f'{leg}_{hinge}' for leg in LEGS for hinge in ('hip_x', 'hip_y', 'knee')]
        + [f'arm_{hinge}' for hinge in ARM],
    ),
}
