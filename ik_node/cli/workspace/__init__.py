"""The workspace map of the command `reach`, its outline and its picture."""
