"""Small vision-language models trained on a drawn world; the default run downloads nothing."""
