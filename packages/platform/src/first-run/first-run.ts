/** Makes an empty platform usable: its first owner with a token, and an automation and a worker that have run once. */
import path from 'node:path';
import { type ZippedExample, zipExample, zipExampleWorker } from './zip-example';

export interface Addresses {
  base: string;
  dashboard: string;
}

export interface Owner {
  email: string;
  password: string;
  token: string;
  workspace_id: string;
}

export interface Sample {
  automation_id: string;
  name: string;
  url: string;
  run_id: string;
  status: string;
  /** Absent where an older Gantry set the platform up. */
  worker?: Awaited<ReturnType<typeof createSampleWorker>>;
}

export interface FirstAccount extends Pick<Owner, 'email' | 'password'> {
  setupToken: string;
  /** An earlier start was interrupted, and may have created it. */
  isResumed: boolean;
}

/** Null if another operator has set the platform up. */
export async function createOwner({ base }: Addresses, account: FirstAccount): Promise<Owner | null> {
  const { email, password, setupToken, isResumed } = account;
  const call = createApiClient(base);
  let signedIn = await call('POST', '/auth/setup', { setup_token: setupToken, email, password });
  if (signedIn.status === 409 && isResumed) signedIn = await call('POST', '/auth/login', { email, password });
  if ([409, 401].includes(signedIn.status)) return null;
  const { access_token } = await signedIn.json<{ access_token: string }>();
  const asOwner = createApiClient(base, access_token);
  const { workspace_id } = await readJson<{ workspace_id: string }>(asOwner('GET', '/auth/me'));
  const { token } = await readJson<{ token: string }>(asOwner('POST', '/auth/tokens', { name: 'npm start' }));
  return { email, password, token, workspace_id };
}

const RUN_DEADLINE_MS = 60_000;
const POLL_MS = 250;

/** Zip in, URL out, and one run, through the gateway, like a user. */
export async function deploySample(
  { dashboard }: Addresses,
  token: string,
  exampleDir: string,
): Promise<Omit<Sample, 'worker'>> {
  const call = createApiClient(dashboard, token);
  const { manifest, entrypoint, inputs, zip } = await zipExample(exampleDir);
  const name = String(manifest.name);
  const { id, url } = (await findAutomation(call, name)) ?? (await deployZip(call, { manifest, entrypoint, zip }));
  const run = { inputs, wait: 10 };
  const { runId } = await readJson<{ runId: string }>(call('POST', `/api/automations/${id}/run`, run));
  return { automation_id: id, name, url, run_id: runId, status: await waitForEnd(call, runId) };
}

interface DeployedAutomation {
  id: string;
  url: string;
}

/** One of an interrupted start. */
async function findAutomation(call: Call, name: string): Promise<DeployedAutomation | undefined> {
  const { automations } = await readJson<{ automations: (DeployedAutomation & { name: string })[] }>(
    call('GET', `/api/automations?q=${encodeURIComponent(name)}`),
  );
  return automations.find((automation) => automation.name === name);
}

async function deployZip(
  call: Call,
  { manifest, entrypoint, zip }: Pick<ZippedExample, 'manifest' | 'entrypoint' | 'zip'>,
): Promise<DeployedAutomation> {
  const { uploadUrl, storageKey } = await readJson<{ uploadUrl: string; storageKey: string }>(
    call('POST', '/api/artifacts/upload-url'),
  );
  const stored = await fetch(uploadUrl, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/zip' },
    body: new Uint8Array(zip),
  });
  if (!stored.ok) throw new Error(`sample zip upload failed with status ${stored.status}: ${await stored.text()}`);
  const artifact = { manifest, entrypoint, storageKey };
  const { artifactId } = await readJson<{ artifactId: string }>(call('POST', '/api/artifacts', artifact));
  return readJson(call('POST', '/api/deploy', { artifactId }));
}

/** A bundle in, and one run. @param dir its name is the worker's id */
export async function createSampleWorker({ base }: Addresses, token: string, dir: string) {
  const call = createApiClient(base, token);
  const { inputs, zip } = await zipExampleWorker(dir);
  const id = path.basename(dir);
  // One of an interrupted start is used.
  if ((await call('GET', `/api/workers/${id}`)).status === 404) {
    const form = new FormData();
    form.set('bundle', new Blob([new Uint8Array(zip)], { type: 'application/zip' }), 'worker.zip');
    await readJson(call('POST', '/api/workers', form));
  }
  const { run_id } = await readJson<{ run_id: string }>(call('POST', `/api/workers/${id}/runs`, { inputs }));
  return { id, run_id, status: await waitForEnd(call, run_id) };
}

/** The run's status when it has ended, or the last one seen. */
async function waitForEnd(call: Call, runId: string): Promise<string> {
  const deadline = Date.now() + RUN_DEADLINE_MS;
  for (;;) {
    const { status } = await readJson<{ status: string }>(call('GET', `/api/runs/${runId}`));
    if (!['pending', 'queued', 'running'].includes(status) || Date.now() > deadline) return status;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

interface ApiResponse {
  status: number;
  /** @throws Error with the surface's own message unless the answer was a success. */
  json<T>(): Promise<T>;
}

type Call = (method: string, path: string, body?: unknown) => Promise<ApiResponse>;

const readJson = async <T>(response: Promise<ApiResponse>): Promise<T> => (await response).json<T>();

function createApiClient(address: string, token?: string): Call {
  return async (method, path, body) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${address}${path}`, {
      method,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
      },
      body: body === undefined || isForm ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      json: async () => {
        if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
        return JSON.parse(text);
      },
    };
  };
}
