"""Enums whose members meet arrays, without losing Ctrl-C.

numpy asks a member for attributes that it does not have, and takes any exception for a no. In Python 3.11 an enum
answers by Python code, in which Ctrl-C may be raised, and would be lost; here it answers without any.
"""

from __future__ import annotations

from enum import EnumType


class ArrayEnumType(EnumType):
    """The type of such enums."""

    __getattr__ = type.__getattribute__
