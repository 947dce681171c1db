import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isToolUnavailable } from '@gantry/testing';
import Ajv from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { stripNameHashes } from './chart';
import { filesOfChart, writeFiles } from './generated-files';
import { getObjectKey, type KubernetesObject, render } from './rendered-manifests';

const chart = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-chart-'));
const readChartFile = (file: string) => fs.readFileSync(path.join(chart, file), 'utf8');
const isRendered = !isToolUnavailable('kubectl') && !isToolUnavailable('helm');
const onceRendered = isRendered ? test : test.skip;
// biome-ignore lint/suspicious/noExplicitAny: values of any shape.
let values: any;

beforeAll(() => {
  if (!isRendered) return;
  writeFiles(chart, filesOfChart());
  values = parse(readChartFile('values.yaml'));
});
afterAll(() => fs.rmSync(chart, { recursive: true }));

// biome-ignore lint/suspicious/noExplicitAny: values of any shape.
const at = (place: string, given: any): any => place.split('.').reduce((it, name) => it[name], given);

/** Evaluates the few expressions that the chart has, as Helm does. */
function helmTemplate(given: object): KubernetesObject[] {
  const text = fs
    .readdirSync(path.join(chart, 'templates'))
    .map((file) => readChartFile(path.join('templates', file)))
    .join('')
    .replace(/\{\{- if \.Values\.(\S+) \}\}\n([\s\S]*?)\{\{- end \}\}\n/g, (_, place, block) =>
      at(place, given) ? block : '',
    )
    .replace(/\{\{ toJson \.Values\.(\S+) \| sha256sum \| quote \}\}/g, (_, place) =>
      JSON.stringify(
        createHash('sha256')
          .update(JSON.stringify(at(place, given)))
          .digest('hex'),
      ),
    )
    .replace(/\{\{ with \.Values\.(\S+) \}\}(.*)\{\{ toJson \. \}\}\{\{ end \}\}/g, (_, place, key) =>
      at(place, given) ? `${key}${JSON.stringify(at(place, given))}` : '',
    )
    .replace(/\{\{ toJson \.Values\.(\S+) \}\}/g, (_, place) => JSON.stringify(at(place, given)))
    .replace(/\{\{ \.Values\.(\S+) \}\}/g, (_, place) => at(place, given));
  expect(text).not.toContain('{{');
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** Kustomize rolls Pods by the name of a ConfigMap, the chart by an annotation. */
function comparable(objects: KubernetesObject[]): Record<string, unknown> {
  return Object.fromEntries(
    objects.map((object) => {
      const annotations = object.spec?.template?.metadata?.annotations;
      if (annotations?.['gantry.dev/config']) delete object.spec.template.metadata.annotations;
      return [getObjectKey(object), object];
    }),
  );
}

onceRendered('the chart with its own values is the objects of k8s/overlays/local', () => {
  const wanted = comparable(stripNameHashes(render('k8s/overlays/local')));
  expect(comparable(helmTemplate(values))).toEqual(wanted);

  const rendered = execFileSync('helm', ['template', 'gantry', chart], { encoding: 'utf8' });
  const documents = parseAllDocuments(rendered).map((document) => document.toJS());
  expect(comparable(documents.filter(Boolean))).toEqual(wanted);
});

onceRendered('a value moves what it names, and what is switched off is not there', () => {
  const given = structuredClone(values);
  given.image = { registry: 'registry.example.com/', tag: '1.2.3' };
  given.postgres.enabled = false;
  given.workerApi.maxReplicas = 20;
  given.services.BASE_URL = 'https://api.example.com';
  const objects = Object.fromEntries(helmTemplate(given).map((object) => [getObjectKey(object), object]));
  expect(objects['StatefulSet gantry/postgres']).toBeUndefined();
  expect(objects['StatefulSet gantry/nats']).toBeDefined();
  expect(objects['HorizontalPodAutoscaler gantry/worker-api']?.spec.maxReplicas).toBe(20);
  expect(objects['Job gantry/migrate-worker-api-1.2.3']?.spec.template.spec.containers[0].image).toBe(
    'registry.example.com/gantry/worker-api:1.2.3',
  );
  expect(objects['ConfigMap gantry/services']?.data?.BASE_URL).toBe('https://api.example.com');
  const hash = (all: typeof objects) => all['Deployment gantry/worker-api']?.spec.template.metadata.annotations;
  const before = Object.fromEntries(helmTemplate(values).map((object) => [getObjectKey(object), object]));
  expect(hash(objects)).not.toEqual(hash(before));
});

onceRendered('values.schema.json knows every value, and refuses others', () => {
  const check = new Ajv({ strict: false }).compile(JSON.parse(readChartFile('values.schema.json')));
  expect(check(values)).toBe(true);
  for (const wrong of [
    { imagee: {} },
    { image: { tag: 1 } },
    { workerApi: { minReplicas: 0 } },
    { nats: { enabled: 'no' } },
  ]) {
    expect({ wrong, ok: check(wrong) }).toEqual({ wrong, ok: false });
  }
});
