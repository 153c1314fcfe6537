"""The settings of models in a config."""
