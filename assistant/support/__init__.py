"""How well what the model was given supports the sentences that cite it: split, judged, stored."""
