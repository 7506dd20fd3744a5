"""One way to a model: its checkpoint or server, how a question is put to it, what it says."""
