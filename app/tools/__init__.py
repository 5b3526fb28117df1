"""The hands of the agent: one file a tool."""
