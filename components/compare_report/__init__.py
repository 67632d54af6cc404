"""A comparison of two runs as a file: JSON, JUnit and Markdown for integration servers, HTML for people."""
