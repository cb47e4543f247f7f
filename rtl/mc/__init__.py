"""The memory controller: address translation, formats of elements, and caches.

It does not depend on the instruction set: a core requests pairs of inputs, and the response is words.
"""
