"""The three steps of a fit: make a plan, sum the rows up, choose."""
