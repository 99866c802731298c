"""Publishers of the node and the content of their messages."""
