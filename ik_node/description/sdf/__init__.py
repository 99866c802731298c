"""SDFormat: graphs of links, joints and frames."""
