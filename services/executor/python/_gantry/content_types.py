"""Media types of files by name. The sandbox has no /etc/mime.types, and Python's own table misses much of what runs produce."""
import mimetypes

UNKNOWN = "application/octet-stream"
_OFFICE = "application/vnd.openxmlformats-officedocument."
# Registered at IANA, except .log and .ipynb.
_BY_EXTENSION = {
    "md": "text/markdown", "markdown": "text/markdown", "log": "text/plain", "ics": "text/calendar", "vcf": "text/vcard",
    "jsonl": "application/jsonl", "ndjson": "application/x-ndjson", "geojson": "application/geo+json",
    "yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml",
    "xlsx": _OFFICE + "spreadsheetml.sheet", "docx": _OFFICE + "wordprocessingml.document",
    "pptx": _OFFICE + "presentationml.presentation", "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text", "epub": "application/epub+zip", "gz": "application/gzip",
    "parquet": "application/vnd.apache.parquet", "arrow": "application/vnd.apache.arrow.file",
    "sqlite": "application/vnd.sqlite3", "ipynb": "application/x-ipynb+json", "webp": "image/webp", "woff2": "font/woff2",
}


def guess_content_type(name):
    extension = name.rpartition(".")[2].lower()
    return _BY_EXTENSION.get(extension) or mimetypes.guess_type(name)[0] or UNKNOWN
