"""Let every test file import the naive twins."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
