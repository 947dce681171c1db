/** kubectl against the cluster of KUBECONFIG. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { waitUntil } from '@gantry/testing';
import type { KubernetesObject } from '../rendered-manifests';

/** @throws Error with what kubectl said */
export function kubectl(args: string[], options: { input?: string; timeoutMs?: number } = {}): string {
  const { stdout, stderr, status, signal } = spawnSync('kubectl', args, {
    encoding: 'utf8',
    input: options.input ?? '',
    timeout: options.timeoutMs ?? 120_000,
    maxBuffer: 64 << 20,
  });
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr || signal}`);
  return stdout;
}

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind, with their status.
export type LiveObject = KubernetesObject & { status?: any };

const getJson = (args: string[]) => JSON.parse(kubectl(['get', '-o', 'json', ...args]));
export const getObject = (...args: string[]): LiveObject => getJson(args);
export const listObjects = (...args: string[]): LiveObject[] => getJson(args).items;
export const applyObjects = (objects: object[]): string =>
  kubectl(['apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) });

export const listPods = (namespace: string, app: string): LiveObject[] =>
  listObjects('pods', '-n', namespace, '-l', `app.kubernetes.io/name=${app}`).filter(
    ({ metadata, status }) =>
      !(metadata as { deletionTimestamp?: string }).deletionTimestamp && status.phase === 'Running',
  );

/** Waits until a rollout is over. kubectl watches the objects. */
export const waitForRollout = (namespace: string, object: string, timeoutS = 300): string =>
  kubectl(['rollout', 'status', '-n', namespace, object, `--timeout=${timeoutS}s`], {
    timeoutMs: (timeoutS + 10) * 1_000,
  });

/** Ports of a Service as ports of this machine: of one of its Pods, so that it ends with that. */
export async function portForward(namespace: string, service: string, ports: number[]) {
  const child: ChildProcess = spawn(
    'kubectl',
    ['port-forward', '-n', namespace, `service/${service}`, ...ports.map(String)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let lines = '';
  child.stdout?.on('data', (text) => {
    lines += text;
  });
  await waitUntil(() => ports.every((port) => lines.includes(`127.0.0.1:${port}`)), {
    deadlineMs: 20_000,
    everyMs: 50,
    what: 'ports are forwarded',
  });
  return { stop: () => void child.kill() };
}
