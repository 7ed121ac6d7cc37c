"""What staff do with stored answers: review, ask again, export, and the record of every look."""
