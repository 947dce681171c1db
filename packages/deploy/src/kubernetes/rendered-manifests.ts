/** Objects rendered by Kustomize, typed as far as the tests read them. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';

export const root = path.resolve(__dirname, '../../../..');

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  ports?: { name: string; containerPort: number }[];
  env?: {
    name: string;
    value?: string;
    valueFrom?: { configMapKeyRef?: { name: string; key: string }; secretKeyRef?: { name: string; key: string } };
  }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: Record<string, unknown> & {
    capabilities?: { drop?: string[]; add?: string[] };
    seccompProfile?: { type: string };
  };
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
}
export interface Probe {
  httpGet?: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds: number;
  failureThreshold: number;
}
export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  hostUsers?: boolean;
  priorityClassName?: string;
  terminationGracePeriodSeconds?: number;
  securityContext?: Record<string, unknown> & { seccompProfile?: { type: string } };
  containers: Container[];
  initContainers?: Container[];
  topologySpreadConstraints?: unknown[];
  volumes?: (Record<string, unknown> & {
    name: string;
    secret?: { secretName: string; items?: { key: string }[] };
    configMap?: { name: string };
  })[];
}
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: objects of every kind.
  spec?: any;
  data?: Record<string, string>;
}

/** The command that renders on this machine, `kustomize` or `kubectl kustomize`; undefined if it has neither. */
const kustomize: string[] | undefined = [
  ['kustomize', 'build'],
  ['kubectl', 'kustomize'],
].find(([command = '', verb = '']) => spawnSync(command, [verb, '--help']).status === 0);

export function render(folder: string): KubernetesObject[] {
  if (!kustomize) throw new Error(`${folder} can't be rendered: neither kustomize nor kubectl is on PATH`);
  const [command = '', ...args] = kustomize;
  const { stdout, stderr, status } = spawnSync(command, [...args, path.resolve(root, folder)], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (status !== 0) throw new Error(`${folder} could not be rendered: ${stderr}`);
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

export const getObjectKey = ({ kind, metadata }: KubernetesObject): string =>
  `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}`;

export const filterByKind = (objects: KubernetesObject[], ...kinds: string[]): KubernetesObject[] =>
  objects.filter(({ kind }) => kinds.includes(kind));

export interface Workload extends KubernetesObject {
  pod: PodSpec;
  podLabels: Record<string, string>;
}

export const listWorkloads = (objects: KubernetesObject[]): Workload[] =>
  filterByKind(objects, 'Deployment', 'StatefulSet', 'DaemonSet', 'Job').map((each) => ({
    ...each,
    pod: each.spec.template.spec,
    podLabels: each.spec.template.metadata.labels,
  }));

export const listContainers = ({ pod }: Workload): Container[] => [...(pod.initContainers ?? []), ...pod.containers];

export const matches = (selector: Record<string, string>, labels: Record<string, string>): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);
