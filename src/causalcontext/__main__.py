"""`python -m causalcontext` is the command line."""

from causalcontext.cli import main

if __name__ == "__main__":
    main()
