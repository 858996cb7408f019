"""Can a result be believed? Small checks, each with its findings: severity, evidence, advice."""
