"""From a robot description that arrives to the model that ticks."""
