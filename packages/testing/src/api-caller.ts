/** Calling the automation surface of a running stack as a client does. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they know
  body: any;
}

export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Status 0 where nobody answered: what a caller sees of a service that is being killed. */
export function apiCaller(baseUrl: string, token: string): Call {
  return async (method, path, body) => {
    try {
      const response = await fetch(new URL(path, baseUrl), {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      });
      const text = await response.text();
      return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
    } catch {
      return { status: 0, body: null };
    }
  };
}

export interface Deployed {
  id: string;
  artifactId: string;
  url: string;
}

/** Uploads `files`, makes an artifact of them and deploys it. @throws Error with the answer that was not expected */
export async function deployAutomation(
  call: Call,
  files: Record<string, string>,
  manifest: Record<string, unknown>,
): Promise<Deployed> {
  const expectStatus = (what: string, { status, body }: Answer) => {
    if (status !== 200 && status !== 201) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const { uploadUrl, storageKey } = expectStatus('upload-url', await call('POST', '/api/artifacts/upload-url'));
  const put = await fetch(uploadUrl, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/zip' },
    body: new Uint8Array(zipOf(files)),
  });
  if (!put.ok) throw new Error(`upload: ${put.status} ${await put.text()}`);
  const artifact = { manifest, entrypoint: 'main.py', storageKey };
  const { artifactId } = expectStatus('artifact', await call('POST', '/api/artifacts', artifact));
  const { automationId, url } = expectStatus('deploy', await call('POST', '/api/deploy', { artifactId }));
  return { id: automationId, artifactId, url };
}

/** A plain zip: deflated entries and a directory, nothing else (APPNOTE.TXT 4.3). */
export function zipOf(files: Record<string, string>): Buffer {
  const entries: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const raw = Buffer.from(text);
    const packed = deflateRawSync(raw);
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(raw), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(raw.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, path, packed]);
    const central = Buffer.alloc(46);
    central.write('PK\x01\x02', 'latin1');
    central.writeUInt16LE(20, 4);
    common.copy(central, 6);
    central.writeUInt32LE(offset, 42);
    entries.push(local);
    directory.push(central, path);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...entries, central, end]);
}
