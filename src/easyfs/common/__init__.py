"""What every room uses: types, threads, checks of parameters, notices, optional packages."""
