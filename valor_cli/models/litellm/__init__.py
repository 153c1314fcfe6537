"""The litellm client: endpoints, connections and errors."""
