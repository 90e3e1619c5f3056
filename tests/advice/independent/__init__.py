"""Days that are not of the simulated site: what is planted, and what advice must find."""
