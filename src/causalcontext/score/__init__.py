"""The score-based engine: a penalised likelihood whose every factor conditions on its own node's
parents only.
"""
