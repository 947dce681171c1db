"""One page: fetched, measured, and its title and certificate read."""
import html.parser
import http.client
import ssl
import time
import urllib.error
import urllib.request

BODY_BYTES_MAX = 512 * 1024
TITLE_CHARS_MAX = 120
SECONDS_PER_DAY = 86_400


def check_page(url, timeout_seconds, token=None):
    """A row of the table. What goes wrong is in `problem`; nothing is raised for what a server does."""
    row = {"url": url, "status": None, "ms": 0.0, "bytes": 0, "title": None, "certificate_days": None, "problem": None}
    request = urllib.request.Request(url, headers={"User-Agent": "page-check/1.0", "Accept": "text/html,*/*"})
    if token:
        # Unredirected: a redirect to another host must not carry the token there.
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    https = CertificateReader()
    began = time.perf_counter()
    try:
        with urllib.request.build_opener(https).open(request, timeout=timeout_seconds) as response:
            body = response.read(BODY_BYTES_MAX)
            row["status"] = response.status
            row["title"] = parse_title(body, response.headers.get_content_charset())
            row["bytes"] = len(body)
    except urllib.error.HTTPError as error:
        row["status"] = error.code
        row["problem"] = f"{error.code} {error.reason}"
        error.close()
    except urllib.error.URLError as error:
        row["problem"] = str(error.reason)
    except (OSError, http.client.HTTPException) as error:
        row["problem"] = str(error) or type(error).__name__
    row["ms"] = round((time.perf_counter() - began) * 1e3, 1)
    if https.certificate:
        left = ssl.cert_time_to_seconds(https.certificate["notAfter"]) - time.time()
        row["certificate_days"] = int(left // SECONDS_PER_DAY)
    return row


class CertificateReader(urllib.request.HTTPSHandler):
    """Keeps the certificate of the last server: urllib releases the socket before the caller could read it."""

    certificate = None

    def https_open(self, request):
        reader = self

        class Connection(http.client.HTTPSConnection):
            def connect(self):
                super().connect()
                reader.certificate = self.sock.getpeercert()

        return self.do_open(Connection, request, context=ssl.create_default_context())


def parse_title(body, charset):
    parser = TitleParser()
    try:
        parser.feed(body.decode(charset or "utf-8", "replace"))
    except LookupError:                                         # an unknown character set
        parser.feed(body.decode("utf-8", "replace"))
    return " ".join(parser.title.split())[:TITLE_CHARS_MAX] or None


class TitleParser(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.title, self._state = "", "before"

    def handle_starttag(self, tag, attrs):
        if tag == "title" and self._state == "before":          # an inline SVG may have titles too
            self._state = "inside"

    def handle_endtag(self, tag):
        if tag == "title" and self._state == "inside":
            self._state = "after"

    def handle_data(self, data):
        if self._state == "inside":
            self.title += data
