/** Makes an empty platform usable: its first owner with a token, and an automation and a worker that have run once. */
import { zipExample, zipExampleWorker } from './zip-example';

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
  worker?: SampleWorker;
}

export interface SampleWorker {
  id: string;
  run_id: string;
  status: string;
}

/** Null if somebody has set the platform up before. */
export async function createOwner(
  { base }: Addresses,
  account: { email: string; password: string; setupToken: string },
): Promise<Owner | null> {
  const { email, password, setupToken } = account;
  const call = caller(base);
  const created = await call('POST', '/auth/setup', { setup_token: setupToken, email, password });
  if (created.status === 409) return null;
  const { access_token, workspace } = await created.json<{ access_token: string; workspace: { id: string } }>();
  const asOwner = caller(base, access_token);
  const { token } = await asOwner('POST', '/auth/tokens', { name: 'npm start' }).then((answer) =>
    answer.json<{ token: string }>(),
  );
  return { email, password, token, workspace_id: workspace.id };
}

const RUN_DEADLINE_MS = 60_000;
const POLL_MS = 250;

/** Zip in, URL out, and one run, through the gateway as anybody would do it. */
export async function deploySample(
  { dashboard }: Addresses,
  token: string,
  exampleDir: string,
): Promise<Omit<Sample, 'worker'>> {
  const call = caller(dashboard, token);
  const { manifest, entrypoint, inputs, zip } = await zipExample(exampleDir);

  const upload = await call('POST', '/api/artifacts/upload-url').then((answer) =>
    answer.json<{ uploadUrl: string; storageKey: string }>(),
  );
  const stored = await fetch(upload.uploadUrl, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/zip' },
    body: new Uint8Array(zip),
  });
  if (!stored.ok) throw new Error(`PUT of the sample's zip answered ${stored.status}: ${await stored.text()}`);
  const { artifactId } = await call('POST', '/api/artifacts', {
    manifest,
    entrypoint,
    storageKey: upload.storageKey,
  }).then((answer) => answer.json<{ artifactId: string }>());
  const deployed = await call('POST', '/api/deploy', { artifactId }).then((answer) =>
    answer.json<{ id: string; url: string }>(),
  );

  const { runId } = await call('POST', `/api/automations/${deployed.id}/run`, { inputs, wait: 10 }).then((answer) =>
    answer.json<{ runId: string }>(),
  );
  const status = await endOf(call, runId);
  const { id, url } = deployed;
  return { automation_id: id, name: String(manifest.name), url, run_id: runId, status };
}

/** A bundle in, and one run. */
export async function createSampleWorker({ base }: Addresses, token: string, dir: string): Promise<SampleWorker> {
  const call = caller(base, token);
  const { inputs, zip } = await zipExampleWorker(dir);
  const form = new FormData();
  form.set('bundle', new Blob([new Uint8Array(zip)], { type: 'application/zip' }), 'worker.zip');
  const { id } = await call('POST', '/api/workers', form).then((answer) => answer.json<{ id: string }>());
  const { run_id } = await call('POST', `/api/workers/${id}/runs`, { inputs }).then((answer) =>
    answer.json<{ run_id: string }>(),
  );
  return { id, run_id, status: await endOf(call, run_id) };
}

/** The run's status when it has ended, or the last one seen. */
async function endOf(call: Call, runId: string): Promise<string> {
  const deadline = Date.now() + RUN_DEADLINE_MS;
  for (;;) {
    const run = await call('GET', `/api/runs/${runId}`).then((answer) => answer.json<{ status: string }>());
    if (!['pending', 'queued', 'running'].includes(run.status) || Date.now() > deadline) return run.status;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

interface Answer {
  status: number;
  /** @throws Error with the surface's own message unless the answer was a success. */
  json<T>(): Promise<T>;
}

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

function caller(address: string, token?: string): Call {
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
