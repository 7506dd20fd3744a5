"""One way to a picture: foreign files decoded by one policy, pixels hashed and stored."""
