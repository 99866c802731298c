"""Inspection of the output of commands."""


def refusal(capsys):
    """Return the only line on stderr about unusable input; stdout is empty."""
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.count('\n') == 1
    return captured.err
