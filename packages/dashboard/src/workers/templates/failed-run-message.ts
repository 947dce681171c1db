import type { WorkerTemplate } from './template';

export const failedRunMessage: WorkerTemplate = {
  id: 'failed-run-message',
  category: 'monitoring',
  name: 'Failed run notification',
  about: 'Posts a message to your chat app when any run in the workspace fails or times out.',
  tags: ['chat'],
  trigger: { type: 'event', on: ['run.failed', 'run.timed_out'] },
  inputs: [
    {
      name: 'event',
      label: 'Event',
      type: 'json',
      default: {
        type: 'run.failed',
        worker_id: 'nightly-import',
        automation_id: null,
        run_id: 'run_example',
        error: 'ValueError: no row has a number',
        duration_ms: 1_246,
      },
    },
    {
      name: 'chat_url',
      label: 'Chat webhook URL',
      type: 'url',
      description: 'Without a URL, the message is displayed but not sent. Store your URL as a secret named CHAT_URL.',
    },
  ],
  outputs: [{ name: 'message', label: 'Message', type: 'markdown' }],
  code: String.raw`"""Writes a message about a run that failed."""
import json
import urllib.request


def run(event, chat_url="", context=None):
    what = "timed out" if event.get("type") == "run.timed_out" else "failed"
    name = event.get("worker_id") or event.get("automation_id") or "a run"
    seconds = (event.get("duration_ms") or 0) / 1000
    message = f"*{name}* {what} after {seconds:.1f} s\n{event.get('error') or 'No error message.'}"
    context.log(message, run=event.get("run_id"))

    url = chat_url or context.secrets.get("CHAT_URL", "")
    if url:
        context.step("post the message", post, url, message)
    return {"message": message}


def post(url, message):
    body = json.dumps({"text": message}).encode()
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as response:
        return response.status
`,
};
