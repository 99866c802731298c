"""The command line: one file a command, with `add_arguments(parser)` and `run(args)`."""
