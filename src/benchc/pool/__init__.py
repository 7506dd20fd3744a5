"""The pool stage: questions and pictures from any source as rows of one shape.

Never judges a sample's difficulty and never touches the network.
"""
