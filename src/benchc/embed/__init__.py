"""Embed: where a sample lies among the others, in picture and in text."""
