"""The charts, as Vega-Lite specifications with their data.

Never renders and never queries: rows in, specifications out. A colour is a name of the page's
style sheet, which holds one value for light, one for dark and one for paper.
"""
