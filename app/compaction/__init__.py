"""The three layers of compaction, pure except for the summary call through a port."""
