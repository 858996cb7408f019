"""`python -m causalcontext` is the command line."""

from causalcontext.cli.app import main

if __name__ == "__main__":
    main()
