"""What a model may do in a turn: the toolbox, its arguments, what it asks the articles, and what a
visitor reads meanwhile.
"""
