"""Pictures of graphs, independent of who paints them: layouts, strokes, palettes; and the painter for matplotlib."""
