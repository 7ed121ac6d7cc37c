"""The proof that the Sources row is never wrong, and that the tests would notice if it were."""
