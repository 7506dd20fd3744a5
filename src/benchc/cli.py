"""The `benchc` command: one sub-command a stage; never holds logic of its own."""
