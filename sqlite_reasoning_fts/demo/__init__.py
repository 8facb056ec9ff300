"""A demonstration archive: an agent's file of any size, made on this machine from local text.

The file has the layout, the indexes and the proportions of a real Hermes Agent archive, so that
figures measured on it carry over. Nothing is downloaded.
"""

from .generate import DemoArchive, generate

__all__ = ["DemoArchive", "generate"]
