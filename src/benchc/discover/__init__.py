"""Failure discovery: a questioner that learns to ask what a frozen model gets wrong."""
