"""The command line: the only room that prints and exits."""
