"""The steps of `discover`: what is asked, what is read, and what is made of the outcome."""
