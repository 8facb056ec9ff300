"""The gate: two builds of the library in one process, and an alarm only where one is slower.

``builds`` makes the two libraries, ``cases`` says what is asked of them, ``sampling`` takes times
by turns, ``verdict`` turns them into an interval, ``page`` into Markdown. Start: ``__main__``.
"""
