"""The life of a turn: sent, prepared, run, delivered, concluded, stored; found again, or ended
where its process died. `assistant.chat` is the door in front of it.
"""
