"""Who may do what: rules, modes and the judgement of commands and paths."""
