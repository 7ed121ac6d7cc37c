"""The parts of the citation writer: how the text of a model is read, line by line, and written
so that nothing in it refers to what the model was not given.

Pure: the standard library and each other. `assistant.citations` puts them together.
"""
