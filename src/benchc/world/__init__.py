"""The drawn world: scenes, their pictures, questions about them and the true answers."""
