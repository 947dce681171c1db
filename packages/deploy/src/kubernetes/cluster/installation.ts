/** `kubectl apply -k k8s/overlays/local`, and what a person does next. */
import { execFileSync, execSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type ApiCall, createApiClient, createZip, waitUntil } from '@gantry/testing';
import { root } from '../rendered-manifests';
import { applyObjects, getObject, kubectl, listObjects, portForward, waitForRollout } from './kubectl';

export interface Installation {
  token: string;
  worker: ApiCall;
  automation: ApiCall;
  /** A folder with the `.data/local.json` that `npm start` would have written. */
  dir: string;
}

const WORKER_API = 'http://localhost:8080';
const PORTS = [8080, 8081, 8082];
const LONG_S = 480;

/** Makes volumes of the node's directories, which must exist, where no StorageClass does, as on a bare test cluster. */
function createPersistentVolumes(dir: string): void {
  applyObjects(
    ['postgres', 'nats', 'objects'].map((name) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `gantry-${name}` },
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path: path.join(dir, name), type: 'Directory' },
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          namespace: 'gantry',
          name: name === 'objects' ? name : `data-${name}-0`,
        },
      },
    })),
  );
}

export async function install(dir: string): Promise<void> {
  const { LOAD_IMAGES, VOLUMES_DIR } = process.env;
  if (LOAD_IMAGES) execSync(LOAD_IMAGES, { cwd: root, stdio: 'inherit' });
  if (VOLUMES_DIR) createPersistentVolumes(VOLUMES_DIR);
  kubectl(['apply', '-k', path.join(root, 'k8s/overlays/local')]);
  for (const object of ['statefulset/postgres', 'statefulset/nats', ...apis, 'deployment/gateway'])
    waitForRollout('gantry', object, LONG_S);
  waitForRollout('gantry-runs', 'deployment/executor', LONG_S);
  fs.mkdirSync(path.join(dir, '.data'), { recursive: true });
}

export const apis = ['worker-api', 'automation-api', 'skills-api'].map((name) => `deployment/${name}`);

let forwarded: Awaited<ReturnType<typeof portForward>> | undefined;
/** Forwards the ports; call it again after the Pod that served them has gone. */
export async function openPortForwards(): Promise<void> {
  forwarded?.stop();
  forwarded = await portForward('gantry', 'gateway', PORTS);
}
export const closePortForwards = (): void => forwarded?.stop();

/** Signs in by the set-up link. An installation that has an owner keeps the token in the folder. */
export async function signIn(dir: string): Promise<Installation> {
  const file = path.join(dir, '.data/local.json');
  const printed = kubectl(['exec', '-n', 'gantry', 'deploy/worker-api', '-c', 'api', '--', 'setup']);
  const [, setupToken] = /setup#(\S+)/.exec(printed) ?? [];
  if (setupToken) {
    const anonymous = createApiClient(WORKER_API, '');
    const account = { email: 'owner@gantry.local', password: 'a long enough password' };
    const { body } = await anonymous('POST', '/auth/setup', { setup_token: setupToken, ...account });
    const { body: made } = await createApiClient(WORKER_API, body.access_token)('POST', '/auth/tokens', {
      name: 'cluster',
    });
    fs.writeFileSync(file, JSON.stringify({ token: made.token }));
    await createSampleWorker(made.token);
  }
  const { token } = JSON.parse(fs.readFileSync(file, 'utf8'));
  return {
    token,
    worker: createApiClient(WORKER_API, token),
    automation: createApiClient('http://localhost:8081', token),
    dir,
  };
}

async function createSampleWorker(token: string): Promise<void> {
  const sample = path.join(root, 'examples/workers/expense-review');
  const files = Object.fromEntries(
    fs.readdirSync(sample).map((name) => [name, fs.readFileSync(path.join(sample, name), 'utf8')]),
  );
  const form = new FormData();
  form.set('bundle', new Blob([new Uint8Array(await createZip(files))], { type: 'application/zip' }), 'worker.zip');
  const answer = await fetch(`${WORKER_API}/api/workers`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
    body: form,
  });
  if (!answer.ok) throw new Error(`the sample worker was rejected: ${answer.status} ${await answer.text()}`);
}

/** Runs the shell lines of docs/first-worker.md in their order. @throws Error at the first that fails */
export function runWalkthrough(dir: string): string {
  const walkthrough = fs.readFileSync(path.join(root, 'docs/first-worker.md'), 'utf8');
  const script = [...walkthrough.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, lines]) => lines).join('\n');
  return execFileSync('bash', ['-eu', '-o', 'pipefail'], {
    cwd: dir,
    input: script,
    encoding: 'utf8',
    timeout: 120_000,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

export async function createWorker(call: ApiCall, name: string, code: string, overrides: object = {}): Promise<string> {
  const files = [{ path: 'main.py', content: code }];
  const { status, body } = await call('POST', '/api/workers', { name, trigger: 'manual', files, ...overrides });
  if (status !== 200 && status !== 201) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

export async function startRun(call: ApiCall, worker: string, inputs: object = {}): Promise<string> {
  const { status, body } = await call('POST', `/api/workers/${worker}/runs`, { inputs });
  if (!body?.run_id) throw new Error(`no run: ${status} ${JSON.stringify(body)}`);
  return body.run_id;
}

/**
 * An alert of every completed run of the worker. Its receiver may be out of reach: deliveries are kept all the same.
 */
export async function createAlert(call: ApiCall, worker: string): Promise<string> {
  const alert = { on: ['run.completed'], url: 'https://example.com/hook' };
  const { status, body } = await call('POST', `/api/workers/${worker}/alerts`, alert);
  if (status !== 201) throw new Error(`no alert: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

const DELIVERIES_PER_PAGE = 200;

/** The run of each delivery of the alert. */
export async function listAlertedRuns(call: ApiCall, alert: string): Promise<string[]> {
  const runs: string[] = [];
  for (;;) {
    const page = `limit=${DELIVERIES_PER_PAGE}&offset=${runs.length}`;
    const { body } = await call('GET', `/api/alerts/${alert}/deliveries?${page}`);
    const deliveries: { payload: { data: { run_id: string } } }[] = JSON.parse(body);
    runs.push(...deliveries.map(({ payload }) => payload.data.run_id));
    if (deliveries.length < DELIVERIES_PER_PAGE) return runs;
  }
}

const terminal = ['completed', 'failed', 'cancelled', 'timed_out', 'rejected'];

export const waitUntilEnded = (call: ApiCall, run: string, deadlineMs = 120_000) =>
  waitUntil(
    async () => {
      const { body } = await call('GET', `/api/runs/${run}`);
      return terminal.includes(body?.status) && body;
    },
    { deadlineMs, everyMs: 250, what: `run ${run} ends` },
  );

/** Restarts of each container of ours since the beginning. */
export const countRestarts = (): Record<string, number> =>
  Object.fromEntries(
    ['gantry', 'gantry-runs'].flatMap((namespace) =>
      listObjects('pods', '-n', namespace).flatMap(({ metadata, status }) =>
        (status.containerStatuses ?? []).map(({ restartCount }: { restartCount: number }) => [
          metadata.name,
          restartCount,
        ]),
      ),
    ),
  );

export const hasResource = (resource: string): boolean => {
  try {
    getObject(resource);
    return true;
  } catch {
    return false;
  }
};
