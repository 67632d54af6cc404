"""Two runs side by side: whether the comparison is fair, what differs, and whether that is more than noise."""
