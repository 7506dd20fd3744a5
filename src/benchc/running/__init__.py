"""What a run is: its plan for the rules, fingerprints, locks and GPUs."""
