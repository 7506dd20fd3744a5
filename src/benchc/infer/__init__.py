"""Infer: one logit per option for every sample under every condition."""
