"""What is measured and proved with the library: simulators and oracles (`simulate`), the paper's
study and those of one's own (`study`), and the calibration of tests (`calibration`).

It uses the core by its public names; nothing in the core imports it, but finds it by
`causalcontext.satellites`.
"""
