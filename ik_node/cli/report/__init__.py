"""The report of the command `check`: facts about a robot, as text and as a picture."""
