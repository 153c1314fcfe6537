"""The contract of reading: what each input gives, or the error that it is refused with."""
