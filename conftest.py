"""Makes `pytester` available; pytest accepts that only from the root."""

pytest_plugins = ("pytester",)
