"""Three policies, a cut, a solver and a noise law that gbb finds when this package is installed."""
