"""Loading of classification inputs: read, join, check and select."""
