"""Readers and writers of robot descriptions and closures; the only code for XML and YAML."""
