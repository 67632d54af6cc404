"""Benchmarks: what the product costs beside what users have today, measured in one run and printed as ratios."""
