"""The rules and the templates of vLLM in, what the rules claim and vLLM's source contradicts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vllmdoctor.errors import UsageError
from vllmdoctor.languages import Message
from vllmdoctor.languages import marked as _
from vllmdoctor.rules.model import Catalogue, Signature
from vllmdoctor.rules.versions import Release, release_of
from vllmdoctor.upstream.coverage import Coverage, coverage_of
from vllmdoctor.upstream.internal import internal_keys
from vllmdoctor.upstream.matching import Link, links
from vllmdoctor.upstream.templates import MESSAGE_KINDS, Template, from_tsv, releases_of
from vllmdoctor.upstream.tree import from_tree, version_of

WORDING, FILE, VERSIONS = "wording", "file", "versions"
_BEGINS = _("claims {claim}, but its wording begins with {release}: {files}")
_ENDS = _("claims {claim}, but its wording ends with {release}: {files}")
_HAS = _("claims {claim}, but {release} has its wording: {files}")
_TOLERANCE = 1  # a table has samples of releases: a message may be up to one of them older or younger than it says


@dataclass(frozen=True, slots=True)
class Fault:
    """A claim of a signature that vLLM's source contradicts. `number` counts the rule's signatures from 1."""

    kind: str  # wording, file, versions
    rule: str
    number: int
    text: Message


@dataclass(frozen=True, slots=True)
class Place:
    """A signature of vLLM's own messages, with its rule and number."""

    rule: str
    number: int
    signature: Signature


@dataclass(frozen=True, slots=True)
class Drift:
    """`unfound` are signatures of which the source has no message, where that proves nothing (see `Source.whole`)."""

    version: str
    templates: int
    signatures: int
    faults: tuple[Fault, ...]
    unfound: tuple[Place, ...]
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Source:
    """vLLM's messages. `releases` are those that they were read from; `whole` says that nothing printed is missing.

    A table holds what is raised and logged as error or warning, a tree every text of one release.
    """

    templates: Sequence[Template]
    releases: Sequence[Release]
    version: str
    whole: bool

    def may_have(self, file: str, release: Release) -> bool:
        """The file has messages in that release, or nothing is known of it."""
        known = [template for template in self.templates if template.file.startswith(file)]
        return not known or any(template.exists_in(release) for template in known)


def read_source(path: Path, version: str = "") -> Source:
    """From a table or a tree. Raises InputError for anything else, UsageError for a version that cannot be told."""
    if path.suffix == ".tsv":
        templates = from_tsv(path)
        return Source(templates, releases_of(templates), _chosen(version, releases_of(templates)), whole=False)
    version = version or version_of(path)
    release = release_of(version)
    if release is None:
        raise UsageError(Message("{path} does not tell its version; add `--version 0.9.1`", path=path))
    return Source(from_tree(path, version), (release,), version, whole=True)


def _chosen(version: str, releases: Sequence[Release]) -> str:
    if version and release_of(version) is None:
        raise UsageError(Message("--version {version}: no release such as 0.9.1", version=version))
    return version or text_of(releases[-1] if releases else (0, 0, 0))


def text_of(release: Release) -> str:
    return ".".join(map(str, release))


def drift_of(catalogue: Catalogue, source: Source) -> Drift:
    """Faults over all releases of the source, coverage for its version."""
    rules = catalogue.signatures()
    places = _places(rules)
    found = links([signature for _, signature in rules], source.templates)
    linked: dict[int, list[Link]] = {}
    for link in found:
        linked.setdefault(link.signature, []).append(link)
    own = [index for index, (_, signature) in enumerate(rules) if signature.origin == "vllm"]
    faults, unfound = [], []
    for index in own:
        found_here = linked.get(index, [])
        if not found_here and not (source.whole and _is_claimed(places[index], source)):
            unfound.append(places[index])
        faults += _faults(places[index], found_here, source)
    categories = {rule_id: catalogue.rules[rule_id].category for rule_id in {name for name, _ in rules}}
    coverage = coverage_of(source.templates, found, rules, categories, release_of(source.version), internal_keys())
    return Drift(source.version, _messages(source), len(own), tuple(faults), tuple(unfound), coverage)


def _messages(source: Source) -> int:
    return sum(template.kind in MESSAGE_KINDS for template in source.templates)


def _places(rules: Sequence[tuple[str, Signature]]) -> list[Place]:
    numbers: dict[str, int] = {}
    places = []
    for rule, signature in rules:
        numbers[rule] = numbers.get(rule, 0) + 1
        places.append(Place(rule, numbers[rule], signature))
    return places


def _is_claimed(place: Place, source: Source) -> bool:
    """The rule says that Python code of one of these releases prints it, so that it must be found."""
    signature = place.signature
    in_python = any(file.startswith("vllm/") and file.endswith(".py") for file in signature.raised)
    claimed = any(signature.versions.admits(release) for release in source.releases)
    return in_python and claimed and signature.scope not in ("traceback", "gpus")


def _faults(place: Place, linked: Sequence[Link], source: Source) -> list[Fault]:
    """A template that is known by a sample alone says where a wording is, not where it is no more."""
    if place.signature.frames:  # the traceback decides; the message may be anybody's
        return []
    if not linked:
        missing = source.whole and _is_claimed(place, source)
        text = Message("no message of vLLM {version} has its wording", version=source.version)
        return [_fault(WORDING, place, text)] if missing else []
    templates = [source.templates[link.template] for link in linked]
    sure = [source.templates[link.template] for link in linked if link.by_pattern]
    claimed = [release for release in source.releases if place.signature.versions.admits(release)]
    alive = [template for template in templates if any(template.exists_in(release) for release in claimed)]
    if not alive:
        reported = [template for template in sure if template.kind in MESSAGE_KINDS]
        return [_fault(VERSIONS, place, _nowhere_text(place, reported, source))] if reported else []
    current = [template for template in alive if template.exists_in(claimed[-1])]
    return [*_range_faults(place, templates, sure, claimed, source), *_file_faults(place, current or alive)]


def _nowhere_text(place: Place, templates: Sequence[Template], source: Source) -> Message:
    return Message(
        "claims {claim!r}, but its wording is in {where}: {files}",
        claim=place.signature.versions.text,
        where=source.version if source.whole else _span(templates),
        files=_spot(templates),
    )


def _range_faults(
    place: Place, templates: Sequence[Template], sure: Sequence[Template], claimed: Sequence[Release], source: Source
) -> list[Fault]:
    """The claim reaches further than any message goes, or stops where a message that it includes goes on."""
    alive = [template for template in sure if any(template.exists_in(release) for release in claimed)]
    if source.whole or not alive:
        return []
    at = {release: position for position, release in enumerate(source.releases)}
    begin, end = at[claimed[0]], at[claimed[-1]]
    first, last = _reach(templates, at)
    earliest, latest = _reach(alive, at)
    begins = first - begin > _TOLERANCE and not _elsewhere(place, templates, source, claimed[0])
    ends = end - last > _TOLERANCE and not _elsewhere(place, templates, source, claimed[-1])
    texts = [
        (begins, _BEGINS, first, templates),
        (begin - earliest > _TOLERANCE, _HAS, earliest, alive),
        (ends, _ENDS, last, templates),
        (latest - end > _TOLERANCE, _HAS, latest, alive),
    ]
    claim = repr(place.signature.versions.text) if place.signature.versions.text else Message("all versions")
    return [
        _fault(
            VERSIONS, place, Message(text, claim=claim, release=text_of(source.releases[number]), files=_spot(found))
        )
        for holds, text, number, found in texts
        if holds
    ]


def _reach(templates: Sequence[Template], at: Mapping[Release, int]) -> tuple[int, int]:
    return min(at[t.first] for t in templates if t.first), max(at[t.last] for t in templates if t.last)


def _elsewhere(place: Place, templates: Sequence[Template], source: Source, release: Release) -> bool:
    """The signature looks at what a table does not hold (info lines), or names another file that may print it then.

    A table has no message of some files, because they print it in a way that cannot be read from the source.
    """
    if place.signature.scope in ("any", "end"):
        return True
    known = tuple({template.file for template in templates})
    others = [file for file in place.signature.raised if not any(name.startswith(file) for name in known)]
    return any(source.may_have(file, release) for file in others)


def _file_faults(place: Place, templates: Sequence[Template]) -> list[Fault]:
    """None of the named files prints it. A message of several files is not asked about: a table names one of them."""
    raised = tuple(place.signature.raised)
    if not raised or any(t.moved or t.file.startswith(raised) for t in templates):
        return []
    named = ", ".join(raised)
    text = Message("`raised` names {named}, but the message is in {files}", named=named, files=_spot(templates))
    return [_fault(FILE, place, text)]


def _fault(kind: str, place: Place, text: Message) -> Fault:
    return Fault(kind, place.rule, place.number, text)


def _span(templates: Sequence[Template]) -> str:
    releases = sorted(release for t in templates for release in (t.first, t.last) if release)
    if not releases:
        return Message("another version")
    return Message("{first} to {last}", first=text_of(releases[0]), last=text_of(releases[-1]))


def _spot(templates: Sequence[Template]) -> str:
    files = list(dict.fromkeys(template.file for template in templates))
    return ", ".join(files[:3]) + (" …" if len(files) > 3 else "")
