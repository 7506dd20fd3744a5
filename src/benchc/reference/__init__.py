"""Small vision-language models trained on a drawn world, so that the default run downloads nothing.

Never a benchmark of anything but themselves: the world is drawn, its truth is computed.
"""
