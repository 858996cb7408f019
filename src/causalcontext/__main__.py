"""`python -m causalcontext` is the command line."""

from causalcontext_command import main

if __name__ == "__main__":
    main()
