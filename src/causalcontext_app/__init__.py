"""The app in the browser: open a table, ask, run, look, say what is known, run again, compare."""
