"""What each command of the table does on the pair screen, one room a subject."""
