"""Independence tests: one file per test, a registry, and the protocol they follow."""
