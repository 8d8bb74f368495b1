"""What people bring: frames, columns and their kinds, the encoder, the target, weights."""
