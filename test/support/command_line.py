"""How tests look at what a command has said."""


def refusal(capsys):
    """Return what stderr says of unusable input: one line, and nothing on stdout."""
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.count('\n') == 1
    return captured.err
