import { CopyableCode } from '../../ui/copyable-code';
import styles from './triggers.module.css';

/** Explains how other programs call the webhook. */
export function WebhookHelp({ url, signed }: { url: string; signed: boolean }) {
  return (
    <details className={styles.help}>
      <summary>{signed ? 'How to sign requests' : 'How to send a request'}</summary>
      {signed ? (
        <>
          <p className="help-text">
            Signatures follow the Standard Webhooks specification, which has libraries for most languages. The signature
            covers the request’s ID, timestamp and body. Timestamps can be off by up to five minutes, and each request
            ID can start only one run.
          </p>
          <CopyableCode label="Python" code={buildPythonExample(url)} />
        </>
      ) : (
        <CopyableCode label="curl" code={buildCurlExample(url)} />
      )}
    </details>
  );
}

const buildCurlExample = (url: string): string => `curl -X POST '${url}?token='"$TOKEN" \\
  -H 'Content-Type: application/json' -H 'Idempotency-Key: order-17' \\
  -d '{"order": 17}'`;

const buildPythonExample = (url: string): string => `import base64, hashlib, hmac, json, os, time, urllib.request, uuid

body = json.dumps({"order": 17}).encode()
message, at = f"msg_{uuid.uuid4().hex}", str(int(time.time()))
key = base64.b64decode(os.environ["SIGNING_KEY"].removeprefix("whsec_"))
digest = hmac.new(key, f"{message}.{at}.".encode() + body, hashlib.sha256).digest()
request = urllib.request.Request(
    "${url}?token=" + os.environ["TOKEN"],
    data=body,
    headers={
        "Content-Type": "application/json",
        "webhook-id": message,
        "webhook-timestamp": at,
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    },
)
print(urllib.request.urlopen(request).read().decode())`;
