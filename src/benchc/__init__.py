"""Diagnose where and why a vision-language model fails when its pictures get worse."""
