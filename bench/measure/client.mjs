/** A small HTTP client: one keep-alive connection each, so that the client costs little beside what is measured. */
import http from 'node:http';

export function createClient(token) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  return (method, url, body) =>
    new Promise((resolve, reject) => {
      const data = body === undefined ? undefined : JSON.stringify(body);
      const req = http.request(
        url,
        {
          method,
          agent,
          headers: {
            Authorization: `Bearer ${token}`,
            ...(data && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(data) }),
          },
        },
        (res) => {
          const chunks = [];
          res.on('data', (chunk) => chunks.push(chunk));
          res.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            if (res.statusCode >= 300) return reject(new Error(`${method} ${url}: ${res.statusCode} ${text}`));
            resolve(text ? JSON.parse(text) : undefined);
          });
        },
      );
      req.on('error', reject);
      req.end(data);
    });
}

/** Uploads a zip and deploys it. @returns the automation's id */
export async function deploy(local, zip, manifest, entrypoint = 'main.py') {
  const call = createClient(local.token);
  const { uploadUrl, storageKey } = await call('POST', `${local.dashboard_url}/api/artifacts/upload-url`);
  const put = await fetch(uploadUrl, { method: 'PUT', headers: { 'Content-Type': 'application/zip' }, body: zip });
  if (!put.ok) throw new Error(`upload: ${put.status} ${await put.text()}`);
  const { artifactId } = await call('POST', `${local.dashboard_url}/api/artifacts`, {
    manifest,
    entrypoint,
    storageKey,
  });
  const { automationId } = await call('POST', `${local.dashboard_url}/api/deploy`, { artifactId });
  return automationId;
}
