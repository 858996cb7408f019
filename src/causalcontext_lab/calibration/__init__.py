"""How a test behaves on the user's own table: its size without a dependence, its power with one."""
