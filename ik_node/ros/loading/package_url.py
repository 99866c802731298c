# flake8: noqa: E203
"""package:// URLs, as ROS writes paths into installed packages."""

from __future__ import annotations

from ik_node.errors import OptionError

_SCHEME = 'package://'


def resolve_package_url(text: str) -> str:
    """
    Return the path that a package:// URL stands for; any other text as it is.

    Raises
    ------
    OptionError
        If the package is not installed.

    """
    if not text.startswith(_SCHEME):
        return text
    package, _, path = text[len(_SCHEME) :].partition('/')
    try:
        from ament_index_python.packages import get_package_share_directory

        share = get_package_share_directory(package)
    except (ImportError, LookupError, OSError, ValueError):
        raise OptionError('closures', text, 'a URL into a package that is installed') from None
    return f'{share}/{path}'
