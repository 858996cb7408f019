"""The commands of the lab: `causalcontext simulate`, `study` and `calibrate`."""
