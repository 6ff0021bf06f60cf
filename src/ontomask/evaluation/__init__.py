"""What was lost, and what is still at risk."""
