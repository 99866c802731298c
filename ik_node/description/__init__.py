"""Text to model: robot descriptions and closure annotations; the only reader of XML and YAML."""
