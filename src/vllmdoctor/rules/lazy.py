"""Names and a builder in, a mapping out that builds each value when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class LazyMapping(Mapping[str, T], Generic[T]):
    """Of 119 rules a diagnosis needs the texts of two or three: the others are never built."""

    def __init__(self, names: Iterable[str], build: Callable[[str], T]) -> None:
        self._names = dict.fromkeys(names)
        self._build = build
        self._built: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._built:
            if name not in self._names:
                raise KeyError(name)
            self._built[name] = self._build(name)
        return self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
