import type { WorkerTemplate } from './template';

export const watchPage: WorkerTemplate = {
  id: 'watch-page',
  category: 'monitoring',
  name: 'Page monitor',
  about:
    'Checks a web page every 15 minutes and fails if the page is down, slow or missing the expected text, so an alert can notify you.',
  tags: ['monitoring'],
  trigger: { type: 'cron', cron: '*/15 * * * *' },
  inputs: [
    { name: 'url', label: 'Page', type: 'url', default: 'https://example.com', required: true },
    { name: 'text', label: 'Expected text', type: 'text', default: 'Example Domain' },
    { name: 'seconds', label: 'Maximum response time (s)', type: 'number', default: 5, minimum: 0.1, maximum: 30 },
  ],
  outputs: [
    { name: 'milliseconds', label: 'Response time (ms)', type: 'number' },
    { name: 'status', label: 'Status', type: 'number' },
    { name: 'size', label: 'Size (bytes)', type: 'number' },
  ],
  limits: { timeout_seconds: 60 },
  retry: { max_attempts: 2, backoff_seconds: 20 },
  code: `"""Checks that a page responds in time and contains the expected text."""
import time
import urllib.error
import urllib.request

BYTES_MAX = 2_000_000


def run(url, text, seconds, context):
    request = urllib.request.Request(url, headers={"User-Agent": "page-watch/1.0"})
    began = time.perf_counter()
    try:
        with urllib.request.urlopen(request, timeout=seconds) as response:
            body = response.read(BYTES_MAX)
            status = response.status
            charset = response.headers.get_content_charset() or "utf-8"
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{url} returned {error.code} {error.reason}") from None
    except OSError as error:
        raise RuntimeError(f"{url} can't be reached: {getattr(error, 'reason', error)}") from None
    took = time.perf_counter() - began

    if text and text not in body.decode(charset, "replace"):
        raise RuntimeError(f"{url} does not contain {text!r}")
    if took > seconds:
        raise RuntimeError(f"{url} took {took:.1f} s, longer than {seconds:g} s")
    context.log("the page passed all checks", status=status, bytes=len(body))
    return {"milliseconds": round(took * 1000), "status": status, "size": len(body)}
`,
};
