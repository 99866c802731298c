"""
Readers and writers of robot descriptions and closures; the only code for XML and YAML.

A reader raises DescriptionError, with file, line and element, for whatever it cannot use.
"""
