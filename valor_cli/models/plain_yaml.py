"""YAML of a file in; plain values out, or what is wrong and where."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml

from valor_cli.errors import ConfigError, Problem


def yaml_values(text: bytes, path: str) -> Any:
    """What a file of one YAML document says.

    Raises:
        ConfigError: It is none.
    """
    try:
        return _Loader(text.decode("utf-8-sig")).get_single_data()
    except UnicodeDecodeError:
        raise ConfigError(Problem(path, "not UTF-8 text")) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = path if mark is None else f"{path}:{mark.line + 1}:{mark.column + 1}"
        raise ConfigError(Problem(place, f"not valid YAML: {error.problem}")) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        # Characters that YAML forbids, a date that no calendar has, lists in lists without end.
        raise ConfigError(Problem(path, "not valid YAML")) from None


class _Loader(yaml.SafeLoader):
    """YAML without aliases, which could grow without end, and without keys that stand twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="prompts have no aliases", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key '{key.value}' stands twice", problem_mark=key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)
