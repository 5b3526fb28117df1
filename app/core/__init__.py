"""Values and ports: standard library only, frozen, no input or output."""
