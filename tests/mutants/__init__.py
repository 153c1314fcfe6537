"""Mutation testing: small faults in the code, one at a time, that a test has to notice."""
