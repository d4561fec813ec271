"""The operator's side: what waits for a decision, and the decision. No model may reach this."""
