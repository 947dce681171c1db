/**
 * The Helm chart of what `kubectl apply -k k8s/overlays/local` applies. Where a value may differ an object holds an
 * expression; with the values of values.yaml the chart is the same objects, which a test checks.
 */
import { stringify } from 'yaml';
import { type Container, type KubernetesObject, listWorkloads, type PodSpec } from './rendered-manifests';

type Values = Record<string, unknown>;

const APIS = { 'worker-api': 'workerApi', 'automation-api': 'automationApi', 'skills-api': 'skillsApi' } as const;
const SCALED: Record<string, string> = { ...APIS, gateway: 'gateway' };
const SERVERS = ['postgres', 'nats'];

/** The value that switches an object off, by file of the chart. */
const PARTS: { file: string; when?: string; has(object: KubernetesObject): boolean }[] = [
  { file: 'network-policies', when: 'networkPolicies.enabled', has: ({ kind }) => kind === 'NetworkPolicy' },
  ...SERVERS.map((name) => ({
    file: name,
    when: `${name}.enabled`,
    has: ({ metadata }: KubernetesObject) => metadata.name === name,
  })),
  {
    file: 'generate-secrets',
    when: 'generatedSecrets.enabled',
    has: ({ metadata }) => metadata.name.startsWith('generate-secrets'),
  },
  {
    file: 'executor-seccomp',
    when: 'seccompProfile.enabled',
    has: ({ metadata }) => /^(executor-seccomp|gantry-node)/.test(metadata.namespace ?? metadata.name),
  },
  { file: 'objects', when: 'objects.claim', has: ({ kind }) => kind === 'PersistentVolumeClaim' },
  { file: 'migrations', has: ({ kind }) => kind === 'Job' },
  ...[...Object.keys(SCALED), 'executor'].map((name) => ({
    file: name,
    has: ({ kind, metadata }: KubernetesObject) => kind !== 'ConfigMap' && metadata.name === name,
  })),
  { file: 'cluster', has: () => true },
];

/** Text of each file of the chart by its path. */
export function buildChartFiles(rendered: KubernetesObject[]): Record<string, string> {
  const expressions: string[] = [];
  const values: Values = {};

  /** Stands for an expression until YAML is written, which would quote one. */
  const toTemplateExpression = (expression: string): string => `HOLE${expressions.push(expression) - 1}HOLE`;
  const setDefaultValue = (valuePath: string, value: unknown): void => {
    const names = valuePath.split('.');
    const last = names.pop() as string;
    let at = values;
    for (const name of names) {
      at[name] ??= {};
      at = at[name] as Values;
    }
    at[last] = value;
  };
  const toJsonTemplate = (place: string, value: unknown): string => {
    setDefaultValue(place, value);
    return toTemplateExpression(`{{ toJson .Values.${place} }}`);
  };

  setDefaultValue('image', { registry: '', tag: 'dev' });
  for (const part of ['generatedSecrets', 'seccompProfile', 'networkPolicies'])
    setDefaultValue(part, { enabled: true });
  for (const server of SERVERS) setDefaultValue(server, { enabled: true });
  setDefaultValue('objects.claim', true);

  const objects = stripNameHashes(rendered);
  for (const object of objects) {
    const { kind, metadata, spec } = object;
    if (kind === 'ConfigMap') templateConfigMap(object);
    if (kind === 'HorizontalPodAutoscaler') {
      const place = SCALED[metadata.name];
      for (const bound of ['minReplicas', 'maxReplicas'])
        spec[bound] = toJsonTemplate(`${place}.${bound}`, spec[bound]);
    }
    if (kind === 'PersistentVolumeClaim') templateVolumeClaim('objects', spec);
    if (kind === 'StatefulSet') templateVolumeClaim(metadata.name, spec.volumeClaimTemplates[0].spec);
    if (kind === 'Job') metadata.name = metadata.name.replace(/dev$/, toTemplateExpression('{{ .Values.image.tag }}'));
  }

  function templateConfigMap(object: { metadata: { name: string }; data?: unknown }): void {
    const place = { services: 'services', executor: 'executor.config', objects: 'objects.config' }[
      object.metadata.name
    ];
    if (place) object.data = toJsonTemplate(place, object.data);
  }

  function templateVolumeClaim(
    place: string,
    spec: { storageClassName?: string; resources: { requests: { storage: string } } },
  ): void {
    spec.resources.requests.storage = toJsonTemplate(`${place}.storage`, spec.resources.requests.storage);
    spec.storageClassName = toJsonTemplate(`${place}.storageClass`, null);
  }

  for (const { pod, metadata, kind, spec } of listWorkloads(objects)) {
    const place = { ...SCALED, executor: 'executor', postgres: 'postgres', nats: 'nats' }[metadata.name];
    for (const container of [...(pod.initContainers ?? []), ...pod.containers]) templateImage(container, place);
    if (!place || kind === 'Job') continue;
    const [main] = pod.containers as [Container];
    Object.assign(main, { resources: toJsonTemplate(`${place}.resources`, main.resources) });
    // A changed ConfigMap rolls its readers.
    if (main.envFrom) {
      const config = place === 'executor' ? 'executor.config' : 'services';
      spec.template.metadata.annotations = {
        'gantry.dev/config': toTemplateExpression(`{{ toJson .Values.${config} | sha256sum | quote }}`),
      };
    }
    templateObjectsVolume(pod);
  }

  function templateImage(container: Container, place?: string): void {
    const [, name] = /^(gantry\/[a-z-]+):/.exec(container.image) ?? [];
    if (name) container.image = toTemplateExpression(`{{ .Values.image.registry }}${name}:{{ .Values.image.tag }}`);
    else if (place) container.image = toJsonTemplate(`${place}.image`, container.image);
  }

  /** With S3 an emptyDir, with a volume that several nodes share its claim. */
  function templateObjectsVolume(pod: PodSpec): void {
    const index = (pod.volumes ?? []).findIndex(({ name }) => name === 'objects');
    if (index >= 0) (pod.volumes as unknown[])[index] = toJsonTemplate('objects.volume', pod.volumes?.[index]);
  }

  const texts: Record<string, string> = {};
  for (const object of objects) {
    const { file, when } = PARTS.find(({ has }) => has(object)) as (typeof PARTS)[number];
    const text = stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })
      .replace(/HOLE(\d+)HOLE/g, (_, index) => expressions[index] as string)
      // The cluster's own class is a field that is not there: null is no valid name.
      .replace(/(storageClassName: )\{\{ toJson (\S+) \}\}/g, '{{ with $2 }}$1{{ toJson . }}{{ end }}');
    const whole = when ? `{{- if .Values.${when} }}\n---\n${text}{{- end }}\n` : `---\n${text}`;
    texts[`templates/${file}.yaml`] = (texts[`templates/${file}.yaml`] ?? '') + whole;
  }
  return {
    ...texts,
    'values.yaml': stringify(values),
    'values.schema.json': `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...toValueSchema(values) }, null, 2)}\n`,
  };
}

/** Without Kustomize's hashes: here an annotation rolls Pods. */
export function stripNameHashes(objects: KubernetesObject[]): KubernetesObject[] {
  const names = objects.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name);
  const text = JSON.stringify(objects);
  return JSON.parse(names.reduce((all, name) => all.replaceAll(`"${name}"`, `"${name.replace(/-[^-]+$/, '')}"`), text));
}

/** Values that an operator may name freely. */
const OPEN = ['services', 'config', 'resources', 'volume'];

function toValueSchema(value: unknown, name = ''): object {
  if (value === null) return { type: ['string', 'null'] };
  if (typeof value === 'boolean') return { type: 'boolean' };
  if (typeof value === 'number') return { type: 'integer', minimum: 1 };
  if (typeof value === 'string') return { type: 'string' };
  if (OPEN.includes(name)) {
    const isVariables = name === 'services' || name === 'config';
    return {
      type: 'object',
      ...(isVariables && { additionalProperties: { type: 'string' }, required: Object.keys(value as Values) }),
    };
  }
  const properties = Object.entries(value as Values).map(([key, each]) => [key, toValueSchema(each, key)]);
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}
