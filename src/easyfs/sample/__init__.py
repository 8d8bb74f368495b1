"""What is learnt on a sample of the rows: a linear fit, curves, joint effects, the law of chance."""
