"""What the terminal is told and what it says: input without its stray reports, title, notices, an orderly end."""
