"""Column names that try to be something else: markup, quotes, formulas, several lines, other
scripts, and too much.
"""

import numpy as np
import pandas as pd

NAMES = (
    "<script>window.hacked = 1</script>",
    "a\"b'c`d",
    "two\nlines\tand a tab",
    "long " * 40,
    "long " * 39 + "longer",
    "שלום עולם",
    "😀 & 日本語 </style>",
    "R$x_1^2$ {{DATA}}",
    "X",
    "X ",
    '1->2;[label="x"]',
    "back\\slash%percent#hash",
)
CONTEXT = "R$x_1^2$ {{DATA}}"
LEVELS = ("<b>dry</b>", 'we"t 日')


def table(n: int = 600) -> pd.DataFrame:
    """A chain of effects through all columns, with a context in the middle."""
    generator = np.random.default_rng(7)
    values = generator.standard_normal((n, len(NAMES)))
    for column in range(1, len(NAMES)):
        values[:, column] += 0.8 * values[:, column - 1]
    frame = pd.DataFrame(values, columns=list(NAMES))
    frame[CONTEXT] = np.where(frame[CONTEXT] > 0, *LEVELS)
    return frame
