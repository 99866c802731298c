"""The table of passes leads every solve to its end."""

from ik_node.kernels import policy


def test_every_pass_of_the_policy_begins_and_leads_to_the_end():
    """By the table of what follows, and by what may follow the entries that are no passes."""
    passes = range(policy.SETTLE)
    assert len(policy.PROMISE) == policy.SETTLE - policy.CLOSE
    assert len(policy.FOLLOWS) == policy.EVENTS * len(passes)
    after = {
        each: set(policy.FOLLOWS[policy.EVENTS * each : policy.EVENTS * (each + 1)])
        for each in passes
    } | {
        policy.COLLECT: {policy.DRAW},
        policy.DRAW: {policy.SEARCH, policy.WALK, policy.IMPROVE},
        policy.IMPROVE: {policy.TOLERATE, policy.NEAR, policy.FAR, policy.BEST},
        policy.COMPARE: {policy.PUSHED, policy.FAR, policy.BEST, policy.SETTLE},
    }

    def reached(first):
        seen, ahead = set(), [first]
        while ahead:
            each = ahead.pop()
            if each not in seen:
                seen.add(each)
                ahead.extend(after.get(each, ()))
        return seen

    assert reached(policy.SEARCH) == {*after, policy.SETTLE}
    assert all(policy.SETTLE in reached(each) for each in passes)
