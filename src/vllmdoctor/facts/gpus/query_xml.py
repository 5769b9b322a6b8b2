"""In: any text. Out: what `nvidia-smi -q -x` says in it; a document that was cut is read as far as it goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from .lines import unwrapped
from .model import Gpu, GpuProcess, Machine, MigDevice
from .values import celsius, is_unified, is_virtual, mib, percent, quantity, text_or_none, version, whole

_ROOT = "nvidia_smi_log"
_CLOSE = "</nvidia_smi_log>"
_ENTITY = re.compile(r"<!ENTITY", re.IGNORECASE)
_POWER_SECTIONS = ("gpu_power_readings", "power_readings")
_POWER_DRAWS = ("power_draw", "average_power_draw", "instant_power_draw")
_POWER_LIMITS = ("current_power_limit", "enforced_power_limit", "power_limit")


def read_xml(text: str) -> list[Machine]:
    """One machine for each document in the text."""
    machines: list[Machine] = []
    before = 0
    for start, end in _spans(text):
        document = text[start:end]
        # The document type stands before the root and is never read, so nothing in it can be expanded or fetched.
        if _ENTITY.search(text, before, end):
            machines.append(Machine(errors=("nvidia-smi XML with entity declarations: not read",), kinds=("xml",)))
        else:
            machines.append(_machine(document))
        before = end
    return machines


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where documents begin and end; one that was cut ends where the next begins."""
    start = text.find(f"<{_ROOT}>")
    while start >= 0:
        following = text.find(f"<{_ROOT}>", start + 1)
        limit = following if following >= 0 else len(text)
        close = text.find(_CLOSE, start, limit)
        yield start, close + len(_CLOSE) if close >= 0 else limit
        start = following


def _machine(document: str) -> Machine:
    root, complete = _tree(document)
    if not complete:
        unbroken, whole_now = _tree("\n".join(unwrapped(document.split("\n"))))
        root, complete = (unbroken, True) if whole_now else (root, False)
    gpus: list[Gpu] = []
    mig_devices: list[MigDevice] = []
    processes: list[GpuProcess] | None = None
    for index, element in enumerate(root.iterfind("gpu")):
        gpus.append(_gpu(element, index))
        mig_devices.extend(_mig_devices(element, index))
        own = _processes(element, index, complete)
        if own is not None:
            processes = (processes or []) + own
    return Machine(
        driver=version(_text(root, "driver_version")),
        cuda=version(_text(root, "cuda_version")),
        gpus=tuple(gpus),
        mig_devices=tuple(mig_devices),
        processes=None if processes is None else tuple(processes),
        kinds=("xml",),
        vendor="nvidia",
    )


def _tree(document: str) -> tuple[ET.Element, bool]:
    """The root, and whether the document was whole."""
    parser: ET.XMLPullParser[ET.Element] = ET.XMLPullParser(events=("start",))
    root, complete = ET.Element(_ROOT), True
    parser.feed(document)
    try:
        # A pull parser keeps what it read before an error; the first element to start is the root.
        for event in parser.read_events():
            root = next((part for part in event if isinstance(part, ET.Element) and part.tag == _ROOT), root)
        parser.close()
    except ET.ParseError:
        complete = False
    return root, complete


def _text(element: ET.Element, *paths: str) -> str | None:
    """The text of the first of `paths` that says something."""
    for path in paths:
        value = text_or_none(element.findtext(path))
        if value is not None:
            return value
    return None


def _gpu(element: ET.Element, index: int) -> Gpu:
    name = _text(element, "product_name")
    mode = _text(element, "mig_mode/current_mig")
    pending = _text(element, "mig_mode/pending_mig")
    draws = [f"{section}/{key}" for section in _POWER_SECTIONS for key in _POWER_DRAWS]
    limits = [f"{section}/{key}" for section in _POWER_SECTIONS for key in _POWER_LIMITS]
    return Gpu(
        index=index,
        name=name,
        total_mib=mib(_text(element, "fb_memory_usage/total")),
        used_mib=mib(_text(element, "fb_memory_usage/used")),
        free_mib=mib(_text(element, "fb_memory_usage/free")),
        reserved_mib=mib(_text(element, "fb_memory_usage/reserved")),
        util_pct=percent(_text(element, "utilization/gpu_util")),
        uuid=_text(element, "uuid"),
        bus_id=_text(element, "pci/pci_bus_id") or element.get("id"),
        compute_mode=_text(element, "compute_mode"),
        mig_enabled=None if mode is None else mode == "Enabled",
        mig_pending=None if mode is None or pending is None else mode != pending,
        ecc_errors=_ecc_errors(element),
        temperature_c=celsius(_text(element, "temperature/gpu_temp")),
        power_w=quantity(_text(element, *draws), ("W",)),
        power_cap_w=quantity(_text(element, *limits), ("W",)),
        unified_memory=is_unified(name),
        virtual=_is_virtual(_text(element, "gpu_virtualization_mode/virtualization_mode"), name),
    )


def _is_virtual(mode: str | None, name: str | None) -> bool | None:
    return mode.upper().replace(" ", "") == "VGPU" or is_virtual(name) if mode else is_virtual(name)


def _ecc_errors(element: ET.Element) -> int | None:
    """Volatile uncorrected errors: one total in old documents, several parts in new ones."""
    volatile = element.find("ecc_errors/volatile")
    if volatile is None:
        return None
    total = whole(volatile.findtext("double_bit/total"))
    parts = [whole(child.text) for child in volatile if "uncorrect" in child.tag]
    known = [part for part in parts if part is not None]
    return total if total is not None else (sum(known) if known else None)


def _mig_devices(element: ET.Element, gpu: int) -> list[MigDevice]:
    return [
        MigDevice(
            gpu=gpu,
            gi=whole(device.findtext("gpu_instance_id")),
            ci=whole(device.findtext("compute_instance_id")),
            device=whole(device.findtext("index")),
            total_mib=mib(device.findtext("fb_memory_usage/total")),
            used_mib=mib(device.findtext("fb_memory_usage/used")),
            free_mib=mib(device.findtext("fb_memory_usage/free")),
            multiprocessors=whole(device.findtext("device_attributes/shared/multiprocessor_count")),
        )
        for device in element.iterfind("mig_devices/mig_device")
    ]


def _processes(element: ET.Element, gpu: int, complete: bool) -> list[GpuProcess] | None:
    """The processes of one GPU. A whole document that lists none has none; `N/A` instead of a list says nothing."""
    listing = element.find("processes")
    infos = [] if listing is None else listing.findall("process_info")
    said = "" if listing is None else (listing.text or "").strip()
    if not infos and (not complete or said not in ("", "None")):
        return None
    return [
        GpuProcess(
            gpu=gpu,
            gi=whole(info.findtext("gpu_instance_id")),
            ci=whole(info.findtext("compute_instance_id")),
            pid=whole(info.findtext("pid")),
            type=text_or_none(info.findtext("type")),
            name=text_or_none(info.findtext("process_name")),
            mib=mib(info.findtext("used_memory")),
        )
        for info in infos
        if whole(info.findtext("pid")) is not None
    ]
