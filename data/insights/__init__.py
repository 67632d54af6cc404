"""Judgement: typed frames in, plain statements out. It reads nothing, stores nothing and draws nothing."""
