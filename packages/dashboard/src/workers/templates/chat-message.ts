import type { WorkerTemplate } from './template';

export const chatMessage: WorkerTemplate = {
  id: 'chat-message',
  category: 'messages',
  name: 'Webhook to chat',
  about: 'Posts incoming webhooks as messages to a chat app such as Slack or Mattermost.',
  tags: ['chat'],
  trigger: { type: 'webhook' },
  inputs: [
    { name: 'title', label: 'Title', type: 'text', default: 'New order' },
    { name: 'text', label: 'Text', type: 'textarea', default: 'Order 1001 received.' },
    {
      name: 'chat_url',
      label: 'Chat webhook URL',
      type: 'url',
      description: 'Without a URL, the message is displayed but not sent. Store your URL as a secret named CHAT_URL.',
    },
  ],
  outputs: [
    { name: 'sent', label: 'Sent', type: 'text' },
    { name: 'message', label: 'Message', type: 'markdown' },
  ],
  retry: { max_attempts: 3, backoff_seconds: 5 },
  code: String.raw`"""Posts a message to a chat app's incoming webhook."""
import json
import urllib.request


def run(title="", text="", chat_url="", context=None):
    # To keep the URL private, declare the CHAT_URL secret under Settings.
    url = chat_url or context.secrets.get("CHAT_URL", "")
    message = f"*{title}*\n{text}" if title else text
    if not message.strip():
        raise ValueError("there is nothing to send: provide a title or text")
    if not url:
        context.log("no webhook URL is set, so the message was not sent", level="warning")
        return {"sent": "no, because no webhook URL is set", "message": message}
    # A step is not repeated when the run is retried.
    status = context.step("post the message", post, url, message)
    return {"sent": f"yes, the chat app returned {status}", "message": message}


def post(url, message):
    body = json.dumps({"text": message}).encode()
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as response:
        return response.status
`,
};
