"""Remote sources: web servers and object stores."""
