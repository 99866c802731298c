"""The objects a user builds: frames, links, joints, goals and closures."""
