"""Text samples: inputs, responses, references and contexts."""
