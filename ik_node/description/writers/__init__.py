"""Writers of model graphs as URDF and closure annotations."""
