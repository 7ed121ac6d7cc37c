"""What turns cost and may cost: prices, budgets of a day, alerts and the report."""
