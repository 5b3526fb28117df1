"""What compaction would have done: recorded sessions run again through the real turn, without a model."""
