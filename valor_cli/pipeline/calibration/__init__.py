"""Calibration: agreement of judges with human labels."""
