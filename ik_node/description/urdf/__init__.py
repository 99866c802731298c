"""URDF, by way of urdf_parser_py."""
