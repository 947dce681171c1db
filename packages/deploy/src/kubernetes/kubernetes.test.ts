/** The objects that k8s/ renders to, checked without a cluster. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { natsPermissions } from '@gantry/events';
import { liveness } from '@gantry/platform';
import { isToolUnavailable } from '@gantry/testing';
import type { z } from 'zod';
import { completeSecrets, readers } from '../secrets/installation-secrets';
import { environmentSchemas } from '../test/environment-schemas';
import { filesFromTables } from './generated-files';
import { edges, type Party, parties } from './network-edges';
import {
  type Container,
  filterByKind,
  getObjectKey,
  type KubernetesObject,
  listContainers,
  listWorkloads,
  matches,
  render,
  root,
  type Workload,
} from './rendered-manifests';
import { type Level, podSecurityProblems } from './test/pod-security';
import { typeProblems } from './test/typed-objects';

const OVERLAYS = ['k8s/overlays/local', 'k8s/overlays/production'];
const OUR_PODS = ['worker-api', 'automation-api', 'skills-api', 'gateway', 'executor'];

const isRendered = !isToolUnavailable('kubectl');
const onceRendered = isRendered ? describe.each(OVERLAYS) : describe.skip.each(OVERLAYS);

test('files that are generated from tables match the tables', () => {
  for (const [file, text] of Object.entries(filesFromTables())) {
    expect({ file, text: fs.readFileSync(path.join(root, file), 'utf8') }).toEqual({ file, text });
  }
});

test('only executors and workloads with a NATS user may connect to NATS', () => {
  const connected = edges.filter(({ to }) => to === 'nats').map(({ from }) => from);
  expect(connected.sort()).toEqual([...Object.keys(natsPermissions), 'executor'].sort());
});

/** Components that none of our overlays uses. */
const OTHERS = ['cloudnative-pg', 'ingress'];

(isRendered ? test : test.skip).each(OTHERS)(
  'every object of the component %s has the fields that its kind knows',
  (name) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-kustomize-'));
    const component = path.relative(fs.realpathSync(folder), path.join(root, 'k8s/components', name));
    fs.writeFileSync(path.join(folder, 'kustomization.yaml'), JSON.stringify({ components: [component] }));
    const objects = render(folder);
    fs.rmSync(folder, { recursive: true });
    expect(objects.length).toBeGreaterThan(0);
    expect(typeProblems(objects)).toEqual([]);
  },
);

onceRendered('%s', (overlay) => {
  let objects: KubernetesObject[];
  let pods: Workload[];
  const levels: Record<string, Level> = {};

  beforeAll(() => {
    objects = render(overlay);
    pods = listWorkloads(objects);
    for (const { metadata } of filterByKind(objects, 'Namespace')) {
      levels[metadata.name] = metadata.labels?.['pod-security.kubernetes.io/enforce'] as Level;
    }
  });

  const deployment = (name: string) =>
    pods.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name) as Workload;
  const findObject = (kind: string, name: string, namespace?: string) =>
    objects.find(
      (each) =>
        each.kind === kind && each.metadata.name === name && (!namespace || each.metadata.namespace === namespace),
    );
  const each = <T>(check: (pod: Workload) => T[]): Record<string, T[]> =>
    Object.fromEntries(pods.map((pod) => [getObjectKey(pod), check(pod)]).filter(([, found]) => found?.length));

  test('every object has only fields that Kubernetes knows', () => {
    expect(typeProblems(objects)).toEqual([]);
  });

  test('every Pod is admitted by the level of its namespace, and executors have no privileges above theirs', () => {
    expect(each((pod) => podSecurityProblems(levels[pod.metadata.namespace ?? ''] ?? 'restricted', pod))).toEqual({});
    expect(levels).toMatchObject({ gantry: 'restricted', 'gantry-runs': 'baseline' });
    expect(pods.filter(({ metadata }) => metadata.namespace === 'gantry-runs').map(getObjectKey)).toEqual([
      'Deployment gantry-runs/executor',
    ]);
  });

  test('every container is bounded, drops every capability and writes to volumes alone', () => {
    const problems = each((pod) =>
      listContainers(pod).flatMap(({ name, resources, securityContext }) => [
        ...(resources?.requests?.cpu && resources.requests.memory && resources.limits?.memory
          ? []
          : [`${name}: resources`]),
        ...(securityContext?.readOnlyRootFilesystem ? [] : [`${name}: readOnlyRootFilesystem`]),
        ...(securityContext?.capabilities?.drop?.includes('ALL') ? [] : [`${name}: capabilities`]),
        ...(securityContext?.allowPrivilegeEscalation === false ? [] : [`${name}: allowPrivilegeEscalation`]),
      ]),
    );
    expect(problems).toEqual({});
  });

  test('only the generator of secrets has a token of the API server', () => {
    const able = pods.filter(({ pod }) => pod.automountServiceAccountToken !== false);
    expect(able.map(({ podLabels }) => podLabels['app.kubernetes.io/name'])).toEqual(
      overlay.endsWith('local') ? ['generate-secrets'] : [],
    );
    expect(
      each(({ pod, metadata }) =>
        findObject('ServiceAccount', pod.serviceAccountName ?? 'default', metadata.namespace) ? [] : ['no account'],
      ),
    ).toEqual({});
  });

  test('an executor has the user namespace and seccomp profile that its sandboxes need, and only its init container enrols', () => {
    const { pod } = deployment('executor');
    expect(pod.hostUsers).toBe(false);
    expect(pod.containers[0]?.securityContext).toMatchObject({
      procMount: 'Unmasked',
      seccompProfile: { type: 'Localhost', localhostProfile: 'gantry/executor.json' },
    });
    const enrolment = (container?: Container) => container?.volumeMounts?.some(({ name }) => name === 'enrolment');
    expect({ enrol: enrolment(pod.initContainers?.[0]), runs: enrolment(pod.containers[0]) }).toEqual({
      enrol: true,
      runs: false,
    });
  });

  test('every long-running container of ours has the probes of ADR 25', () => {
    for (const name of OUR_PODS) {
      const { startupProbe, livenessProbe, readinessProbe } = deployment(name).pod.containers[0] as Container;
      expect({ name, ...livenessProbe }).toMatchObject({
        name,
        httpGet: { path: '/healthz' },
        periodSeconds: liveness.everySeconds,
        timeoutSeconds: liveness.timeoutSeconds,
        failureThreshold: liveness.failures,
      });
      expect((startupProbe?.periodSeconds ?? 0) * (startupProbe?.failureThreshold ?? 0)).toBe(liveness.startSeconds);
      expect(readinessProbe?.httpGet?.path).toBe(name === 'gateway' ? '/healthz' : '/health');
    }
  });

  test('NATS is probed through JetStream, where we run it', () => {
    const nats = pods.find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'nats');
    const isOurs = overlay.endsWith('local');
    expect(nats?.pod.containers[0]?.livenessProbe?.httpGet?.path).toBe(isOurs ? '/jsz' : undefined);
  });

  test('a Pod that is evicted has time to finish its work', () => {
    for (const name of OUR_PODS) {
      const { spec, pod } = deployment(name);
      expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
      expect(pod.topologySpreadConstraints).toHaveLength(2);
    }
    const graceS = (name: string) => deployment(name).pod.terminationGracePeriodSeconds ?? 0;
    // preStop 5 s, requests under way 12 s.
    for (const name of OUR_PODS.slice(0, 4)) expect(graceS(name)).toBeGreaterThan(5 + 15);
    const settings = objects.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.namespace === 'gantry-runs',
    )?.data;
    const RUN_S_MAX = 3_600;
    expect(Number(settings?.EXECUTOR_DRAIN_MS)).toBeGreaterThanOrEqual(RUN_S_MAX * 1_000);
    expect(graceS('executor') * 1_000).toBeGreaterThan(Number(settings?.EXECUTOR_DRAIN_MS));
  });

  test('every Deployment has a PodDisruptionBudget, and scales by itself or says why not', () => {
    const targets = filterByKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject').map(
      ({ spec, metadata }) => `${metadata.namespace}/${spec.scaleTargetRef.name}`,
    );
    const problems = Object.fromEntries(
      filterByKind(objects, 'Deployment', 'StatefulSet')
        .map((object) => {
          const { namespace, name, annotations = {} } = object.metadata;
          const budgets = filterByKind(objects, 'PodDisruptionBudget').filter(
            (budget) =>
              budget.metadata.namespace === namespace &&
              matches(budget.spec.selector.matchLabels, object.spec.template.metadata.labels),
          );
          const reasons = Object.keys(annotations).filter((key) =>
            ['gantry.dev/not-autoscaled', 'gantry.dev/single'].includes(key),
          );
          const scaled = targets.includes(`${namespace}/${name}`);
          return [
            getObjectKey(object),
            [
              ...(budgets.length === 1 ? [] : [`${budgets.length} budgets`]),
              ...(scaled || reasons.length ? [] : ['neither scaled nor a reason']),
              // An autoscaler and a manifest that both know the number would undo each other.
              ...(scaled && object.spec.replicas !== undefined ? ['replicas'] : []),
            ],
          ] as const;
        })
        .filter(([, found]) => found.length),
    );
    expect(problems).toEqual({});
  });

  test('every selector matches its target, and every port that a Service names exists', () => {
    const services = filterByKind(objects, 'Service').filter(({ spec }) => spec.selector);
    for (const service of services) {
      const found = pods.filter(
        ({ metadata, podLabels }) =>
          metadata.namespace === service.metadata.namespace && matches(service.spec.selector, podLabels),
      );
      expect({ service: getObjectKey(service), workloads: found.map(({ kind }) => kind === 'Job') }).toEqual({
        service: getObjectKey(service),
        workloads: [false],
      });
      const ports = found[0]?.pod.containers.flatMap((container) => container.ports ?? []).map(({ name }) => name);
      for (const { targetPort } of service.spec.ports) expect(ports).toContain(targetPort);
    }
    for (const { spec, podLabels } of pods.filter(({ kind }) => kind !== 'Job'))
      expect(matches(spec.selector.matchLabels, podLabels)).toBe(true);
    for (const { spec, metadata } of filterByKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject')) {
      expect(
        findObject(spec.scaleTargetRef.kind ?? 'Deployment', spec.scaleTargetRef.name, metadata.namespace),
      ).toBeDefined();
    }
    const priorities = filterByKind(objects, 'PriorityClass').map(({ metadata }) => metadata.name);
    for (const { pod } of pods) expect(priorities).toContain(pod.priorityClassName);
  });

  test('every ConfigMap and every Secret that is read is defined or generated', () => {
    const secrets = [
      ...readers,
      ...filterByKind(objects, 'ExternalSecret').map(({ spec, metadata }) => spec.target?.name ?? metadata.name),
      ...filterByKind(objects, 'Secret').map(({ metadata }) => metadata.name),
    ];
    const problems = each(({ pod, metadata }) => {
      const containers = [...(pod.initContainers ?? []), ...pod.containers];
      const configMaps = [
        ...containers.flatMap(({ envFrom = [] }) => envFrom.map(({ configMapRef }) => configMapRef?.name)),
        ...containers.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name)),
        ...(pod.volumes ?? []).map(({ configMap }) => configMap?.name),
      ].filter((name) => name !== undefined);
      const wanted = (pod.volumes ?? []).flatMap(({ secret }) => (secret ? [secret.secretName] : []));
      return [
        ...configMaps.filter((name) => !findObject('ConfigMap', name, metadata.namespace)),
        ...wanted.filter((name) => !secrets.includes(name)),
      ];
    });
    expect(problems).toEqual({});
  });

  /** Values by variable, without `_FILE`; that of a file is its path. */
  function environment({ pod, metadata }: Workload): Record<string, string> {
    const [container] = pod.containers as [Container];
    const readConfigMap = (name = '') => findObject('ConfigMap', name, metadata.namespace)?.data ?? {};
    const shared = (container.envFrom ?? []).map(({ configMapRef }) => readConfigMap(configMapRef?.name));
    const own = (container.env ?? []).map(({ name, value, valueFrom }) => {
      const from = valueFrom?.configMapKeyRef;
      return [name, value ?? (from && readConfigMap(from.name)[from.key]) ?? ''];
    });
    return Object.assign({}, ...shared, Object.fromEntries(own));
  }

  test.each(OUR_PODS)('%s is given every variable that it needs, and none that it does not know', (service) => {
    const schema = environmentSchemas[service] as z.ZodObject;
    const known = Object.keys(schema.shape);
    const given = Object.keys(environment(deployment(service))).map((name) =>
      known.includes(name) ? name : name.replace(/_FILE$/, ''),
    );
    expect(given.filter((name) => !known.includes(name) && !name.startsWith('OTEL_'))).toEqual([]);
    const dockerfile = fs.readFileSync(path.join(root, 'Dockerfile'), 'utf8');
    const inImage = [...dockerfile.matchAll(/\b([A-Z][A-Z0-9_]+)="?[^\s"]/g)].map(([, name]) => name);
    const required = schema.safeParse({}).error?.issues.map(({ path: [name] }) => String(name)) ?? [];
    expect(required.filter((name) => !given.includes(name) && !inImage.includes(name))).toEqual([]);
  });

  test('every file that a variable names is a key of the Secret that is mounted there', () => {
    const made = completeSecrets({});
    const problems = each((workload) =>
      listContainers(workload).flatMap(({ env = [], volumeMounts = [] }) =>
        env
          .filter(({ name, value }) => name.endsWith('_FILE') && value?.startsWith('/run/secrets/gantry/'))
          .filter(({ value = '' }) => {
            const mount = volumeMounts.find(({ mountPath }) => mountPath === path.dirname(value));
            const secret = workload.pod.volumes?.find(({ name }) => name === mount?.name)?.secret;
            return !secret || made[secret.secretName]?.[path.basename(value)] === undefined;
          })
          .map(({ name }) => name),
      ),
    );
    expect(problems).toEqual({});
  });

  test('every address inside the cluster that a variable names is a connection that the policies allow', () => {
    const findParty = ({ metadata, podLabels }: Workload) =>
      (Object.keys(parties) as Party[]).find(
        (party) => parties[party].namespace === metadata.namespace && matches(parties[party].labels, podLabels),
      );
    const inside = new Set(filterByKind(objects, 'Service').map(({ metadata }) => metadata.name));
    const wanted = pods.flatMap((workload) =>
      Object.entries(environment(workload)).flatMap(([name, value]) => {
        // Presigned URLs of the file store lead executors here.
        const from = name === 'OBJECT_STORE_INTERNAL_URL' ? 'executor' : findParty(workload);
        const [, host = '', port] =
          /^(?:\w+:\/\/)?([a-z-]+)(?:\.gantry\.svc(?:\.cluster\.local)?)?:(\d+)/.exec(value) ?? [];
        return inside.has(host) ? [{ from, to: host, port: Number(port) }] : [];
      }),
    );
    const isAllowed = ({ from, to, port }: (typeof wanted)[number]) =>
      edges.some((edge) => edge.from === from && edge.to === to && edge.ports?.includes(port));
    expect(wanted.filter((one) => !isAllowed(one))).toEqual([]);
    expect(wanted.length).toBeGreaterThan(6);
    // A party without Pods would be a policy that protects nothing.
    const present = new Set(pods.map(findParty));
    const absent = Object.keys(parties).filter((party) => !present.has(party as Party));
    expect(absent).toEqual(overlay.endsWith('local') ? [] : expect.not.arrayContaining(OUR_PODS));
    expect(pods.filter((workload) => !findParty(workload)).map(getObjectKey)).toEqual(
      overlay.endsWith('local') ? ['DaemonSet gantry-node/executor-seccomp'] : expect.anything(),
    );
  });

  test('every image of ours is one that the Dockerfile builds, in one version', () => {
    const dockerfile = fs.readFileSync(path.join(root, 'Dockerfile'), 'utf8');
    const targets = [...dockerfile.matchAll(/^FROM .* AS (\S+)$/gim)].map(([, target]) => target);
    const images = pods.flatMap(listContainers).map(({ image }) => image);
    for (const image of images) expect(image).toMatch(/:[\w.-]+$/);
    const ours = images.map((image) => /gantry\/([a-z-]+):(.*)$/.exec(image)).filter((found) => found !== null);
    for (const [, target] of ours) expect(targets).toContain(target);
    expect(new Set(ours.map(([, , version]) => version)).size).toBe(1);
  });
});
