"""Fault drill: simulated time jumps back, as when a simulation starts again."""

from rosgraph_msgs.msg import Clock
from support.drill import Drill, RATE


class SimulatedTime:
    """What a simulator publishes on /clock; goes on while somebody waits."""

    def __init__(self, drill):
        self.seconds = 1000.0
        self._drill = drill
        self._publisher = drill.graph.client.create_publisher(Clock, '/clock', 10)

    def until(self, condition, what):
        def advance():
            self.seconds += 0.5 / RATE
            message = Clock()
            message.clock.sec = int(self.seconds)
            message.clock.nanosec = int(1e9 * (self.seconds % 1.0))
            self._publisher.publish(message)
            return condition()

        self._drill.wait(advance, what)


def test_node_continues_after_a_clock_jump_back(graph, urdf):
    """A simulation starts again: joint states continue, and old goals do not stay fresh."""
    drill = Drill(graph)
    drill.knows(urdf('hexapod'))
    drill.start('-p', 'use_sim_time:=true', '-p', 'goal_timeout:=0.5')
    clock = SimulatedTime(drill)
    drill.graph.describe(urdf('hexapod'))
    clock.until(lambda: drill.count > 10, 'joint states')
    drill.send((0.002, 0.0, 0.0))
    clock.until(lambda: drill.at((0.002, 0.0, 0.0)), 'the goal')
    assert drill.last.header.stamp.sec >= 1000
    clock.seconds = 10.0
    clock.until(lambda: drill.last.header.stamp.sec < 100, 'joint states of the new time')
    clock.until(lambda: 'goal platform is stale' in drill.status, 'the end of the old goal')
    drill.send((0.0, 0.002, 0.0))
    clock.until(lambda: drill.at((0.0, 0.002, 0.0)), 'the next goal')
    clock.until(lambda: 'goal platform is stale' in drill.status, 'its end, by the new time')
