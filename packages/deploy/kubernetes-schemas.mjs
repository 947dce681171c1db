/**
 * `node kubernetes-schemas.mjs <folder> <file>...` writes src/kubernetes/test/schemas.json: the strict schemas of the kinds that
 * k8s/ uses, without descriptions. The folder is `kubernetes_validate/kubernetes-json-schema/v<version>-local-strict` of the PyPI
 * package kubernetes-validate, so far v1.36.0; the files are CustomResourceDefinitions, so far `gateways` and `httproutes` of
 * Gateway API 1.5.0, `scaledobjects` of KEDA 2.20.2, and `clusters` and `databases` of CloudNativePG 1.27.0.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const KINDS = [
  ...['namespace-v1', 'service-v1', 'serviceaccount-v1', 'configmap-v1', 'secret-v1', 'persistentvolumeclaim-v1'],
  ...['deployment-apps-v1', 'statefulset-apps-v1', 'daemonset-apps-v1', 'job-batch-v1', 'cronjob-batch-v1'],
  ...['poddisruptionbudget-policy-v1', 'horizontalpodautoscaler-autoscaling-v2', 'priorityclass-scheduling-v1'],
  ...['networkpolicy-networking-v1', 'ingress-networking-v1', 'role-rbac-v1', 'rolebinding-rbac-v1'],
];

const [folder, ...definitions] = process.argv.slice(2);
const readSchema = (name) => JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'));
const sourceDefinitions = readSchema('_definitions').$defs;
const usedDefinitions = {};

/** Properties are named as their authors like, so a schema is not searched for "description" but walked. */
function stripDescriptions(schema) {
  if (typeof schema !== 'object' || schema === null) return schema;
  const { description, default: _, properties, items, additionalProperties, $ref, ...rest } = schema;
  for (const key of Object.keys(rest)) if (key.startsWith('x-')) delete rest[key];
  return {
    ...rest,
    ...($ref && { $ref: `#/$defs/${addDefinition($ref.split('/').at(-1))}` }),
    ...(items && { items: stripDescriptions(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: stripDescriptions(additionalProperties) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, stripDescriptions(v)])),
    }),
  };
}

function addDefinition(name) {
  if (!usedDefinitions[name]) {
    usedDefinitions[name] = {};
    Object.assign(usedDefinitions[name], stripDescriptions(sourceDefinitions[name]));
  }
  return name;
}

/** Kubernetes prunes what a definition does not name, unless it says otherwise. */
function toStrictSchema(schema) {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema['x-kubernetes-int-or-string']) return { type: ['integer', 'string'] };
  const { properties, items, additionalProperties, type, pattern, required } = schema;
  const closed = properties && additionalProperties === undefined && !schema['x-kubernetes-preserve-unknown-fields'];
  return {
    ...Object.fromEntries(Object.entries({ type, pattern, required, enum: schema.enum }).filter(([, value]) => value)),
    ...(items && { items: toStrictSchema(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: toStrictSchema(additionalProperties) }),
    ...(closed && { additionalProperties: false }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, toStrictSchema(v)])),
    }),
  };
}

function readCustomResourceSchema(file) {
  const { spec } = parse(fs.readFileSync(file, 'utf8'));
  const { name, schema } = spec.versions.find(({ storage }) => storage);
  const { status, ...properties } = toStrictSchema(schema.openAPIV3Schema).properties;
  const metadata = { $ref: `#/$defs/${addDefinition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')}` };
  return [
    `${spec.group}/${name} ${spec.names.kind}`,
    { type: 'object', additionalProperties: false, properties: { ...properties, metadata } },
  ];
}

const kinds = Object.fromEntries([
  ...definitions.map(readCustomResourceSchema),
  ...KINDS.map((name) => {
    const { $schema, $id, ...schema } = readSchema(name);
    const { apiVersion, kind } = schema.properties;
    return [`${apiVersion.enum[0]} ${kind.enum[0]}`, stripDescriptions(schema)];
  }),
]);
const file = path.join(import.meta.dirname ?? '.', 'src/kubernetes/test/schemas.json');
fs.writeFileSync(file, `${JSON.stringify({ kinds, $defs: usedDefinitions })}\n`);
