"""A turn of the agent: prompt, calls, loop, and the session that owns the conversation."""
