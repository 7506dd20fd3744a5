"""The pool stage: questions and pictures from any source as rows of one shape."""
