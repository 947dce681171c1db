/** Objects rendered by Kustomize, typed as far as the tests read them. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import { parseAllDocuments } from 'yaml';

export const root = path.resolve(__dirname, '../../../..');

/** Every container of ours names its image, and every volume of a Secret that Secret. */
export type Container = IContainer & { image: string };
export type PodSpec = Omit<IPodSpec, 'containers' | 'initContainers' | 'volumes'> & {
  containers: Container[];
  initContainers?: Container[];
  volumes?: (IVolume & { secret?: { secretName: string } })[];
};
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
