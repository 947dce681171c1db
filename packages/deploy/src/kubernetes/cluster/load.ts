/** load-client.cjs as a Pod beside the platform: what it sees is what a load balancer in front of the gateway sees. */
import fs from 'node:fs';
import path from 'node:path';
import { waitUntil } from '@gantry/testing';
import { applyObjects, kubectl } from './kubectl';

interface Outcome {
  requests: number;
  failures: string[];
  /** Ids of those that were accepted. */
  runs: string[];
}

export type Load = Awaited<ReturnType<typeof startLoad>>;

const NAMESPACE = 'gantry-test';

export async function startLoad(options: {
  token: string;
  worker: string;
  image: string;
  clients?: number;
  readsOnly?: boolean;
}) {
  const env = {
    GATEWAY: 'gateway.gantry.svc',
    TOKEN: options.token,
    WORKER: options.worker,
    CLIENTS: String(options.clients ?? 4),
    ONLY: options.readsOnly ? 'reads' : '',
  };
  kubectl(['delete', 'pod', 'load', '-n', NAMESPACE, '--ignore-not-found', '--now']);
  applyObjects([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'load', namespace: NAMESPACE },
      data: { 'load.cjs': fs.readFileSync(path.join(__dirname, 'load-client.cjs'), 'utf8') },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'load', namespace: NAMESPACE },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'load',
            image: options.image,
            command: ['/usr/local/bin/node', '/load/load.cjs'],
            env: Object.entries(env).map(([name, value]) => ({ name, value })),
            volumeMounts: [{ name: 'load', mountPath: '/load' }],
          },
        ],
        volumes: [{ name: 'load', configMap: { name: 'load' } }],
      },
    },
  ]);
  const getOutcome = (place: string): Outcome =>
    JSON.parse(kubectl(['get', '--raw', `/api/v1/namespaces/${NAMESPACE}/pods/load:8000/proxy${place}`]));
  await waitUntil(() => getOutcome('/'), { deadlineMs: 60_000, everyMs: 250, what: 'the load generator responds' });
  return {
    sofar: () => getOutcome('/'),
    /** Lets requests under way end. */
    stop: () => getOutcome('/stop'),
  };
}
