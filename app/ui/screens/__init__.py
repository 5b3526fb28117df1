"""Pages and dialogs."""
