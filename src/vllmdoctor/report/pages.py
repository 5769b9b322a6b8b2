"""The address of the troubleshooting site and a rule in, the address of the rule's page out."""

from __future__ import annotations

from collections.abc import Mapping

VARIABLE = "VLLMDOCTOR_SITE"
# Who publishes the site with the package puts its address here; without one reports name `vllmdoctor explain`.
PACKAGED_ADDRESS = ""


def site_address(environment: Mapping[str, str]) -> str:
    """The configured site with a slash at its end, "" when there is none."""
    address = environment.get(VARIABLE, PACKAGED_ADDRESS).strip()
    return address.rstrip("/") + "/" if address.startswith(("https://", "http://")) else ""


def rule_page(rule_id: str, language: str, site: str) -> str:
    """Where the site explains the rule; "" without a site."""
    return f"{site}{language}/rules/{rule_id}/" if site else ""
