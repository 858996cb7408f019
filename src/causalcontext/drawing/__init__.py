"""Pictures of graphs: the layout, what is drawn, and how matplotlib draws it."""
