"""What a user wrote, checked: every key, its meaning, its default."""
