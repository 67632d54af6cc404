"""Code, not files: from the bytes a profiler wrote, anywhere, to typed frames.

`sources` find jobs and their files, `readers` understand one format each, `convert` turns both into a
store of Parquet files, `store` opens that store and runs `queries`, which return the frames of `frames`.
Nothing here knows of Dash, of thresholds or of advice; judgement lives in `data.insights`.
"""
