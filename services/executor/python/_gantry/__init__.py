"""The platform's half of a run's process. Nothing here is an interface for user code; that is the package `gantry`."""
