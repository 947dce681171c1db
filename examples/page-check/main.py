"""Fetches pages and reports which of them fail, how fast they are, and when their certificates expire.

The sandbox has no network of its own: HTTP_PROXY and HTTPS_PROXY name the egress proxy, and urllib honours them.
"""
import concurrent.futures
import time
import urllib.parse

from page import check_page

PAGES_MAX = 50
AT_ONCE = 4
CERTIFICATE_DAYS_MIN = 14


def run(urls, timeout_seconds=10, token_host="", context=None):
    addresses = read_addresses(urls)
    token = context.secrets.get("PAGE_TOKEN") if token_host else None
    if token_host and not token:
        context.log("token_host is given, but this automation has no secret PAGE_TOKEN: no token is sent", "warning")

    def check(address):
        parts = urllib.parse.urlsplit(address)
        entitled = token and parts.scheme == "https" and parts.hostname == token_host.strip().lower()
        return check_page(address, timeout_seconds, token if entitled else None)

    found = {}
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = {pool.submit(check, address): address for address in addresses}
        for done in concurrent.futures.as_completed(waiting):
            page = found[waiting[done]] = done.result()
            context.log(f"{page['url']}: {page['problem'] or page['status']}", "warning" if page["problem"] else "info",
                        ms=page["ms"])
            context.progress(len(found) / len(addresses), f"{len(found)} of {len(addresses)}")

    pages = [found[address] for address in addresses]
    failing = [page for page in pages if page["problem"]]
    return {
        "summary": describe(pages, failing, time.monotonic() - began),
        "pages": pages,
        "failing": len(failing),
        "slowest_ms": max(page["ms"] for page in pages),
    }


def read_addresses(urls):
    """Each address once, in the order given."""
    addresses = list(dict.fromkeys(line.strip() for line in urls.splitlines() if line.strip()))
    if not addresses:
        raise ValueError("give at least one address")
    if len(addresses) > PAGES_MAX:
        raise ValueError(f"give at most {PAGES_MAX} addresses; these are {len(addresses)}")
    for address in addresses:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{address!r} is not a web address: it must start with http:// or https://")
    return addresses


def describe(pages, failing, seconds):
    lines = [f"**{len(pages) - len(failing)} of {len(pages)}** pages are fine, checked in {seconds:.1f} s.", ""]
    lines += [f"- {page['url']}: {page['problem']}" for page in failing]
    for page in pages:
        days = page["certificate_days"]
        if days is not None and days < CERTIFICATE_DAYS_MIN:
            lines.append(f"- {page['url']}: its certificate ends in {days} days")
    return "\n".join(lines).strip()
