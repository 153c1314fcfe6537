"""Which metric for which question: what the guide says, and how it is shown."""
