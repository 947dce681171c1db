/** observability/ and docs/runbooks: everything that they name is there, and Prometheus understands it. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { assertTestTool, isToolUnavailable } from '../test-tools';
import { listMetrics, root } from './metrics-table';

const run = promisify(execFile);
const folder = path.join(root, 'observability');
const readFile = (file: string) => fs.readFileSync(path.join(folder, file), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string; runbook_url: string };
}

const rules: Rule[] = parse(readFile('rules/gantry.yaml')).groups.flatMap((group: { rules: Rule[] }) => group.rules);
const dashboards = fs.readdirSync(path.join(folder, 'dashboards'));

/** Every `expr` of a dashboard, and the metric of every `label_values()`. */
function listExpressions(dashboard: string): string[] {
  const found: string[] = [];
  JSON.parse(readFile(`dashboards/${dashboard}`), (key, value) => {
    if (key === 'expr') found.push(value);
    if (key === 'query' && typeof value === 'string')
      found.push(...(/^label_values\((.*), \w+\)$/.exec(value)?.slice(1) ?? []));
    return value;
  });
  return found.map((expression) => expression.replaceAll('$__rate_interval', '5m'));
}

const expressions: [string, string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...dashboards.flatMap((name) => listExpressions(name).map((expression): [string, string] => [name, expression])),
];

/** Names of metrics and labels in an expression. @throws Error where Prometheus' grammar does not allow it */
function listNames(expression: string): { metrics: string[]; labels: string[] } {
  const [metrics, labels]: [string[], string[]] = [[], []];
  parser.parse(expression).iterate({
    enter: ({ type, name, from, to }) => {
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expression}`);
      // The name of a metric is an Identifier of its VectorSelector.
      if (name === 'Identifier') metrics.push(expression.slice(from, to));
      if (name === 'LabelName') labels.push(expression.slice(from, to));
    },
  });
  return { metrics, labels };
}

const documented = fs.readFileSync(path.join(root, 'docs/operations/metrics.md'), 'utf8');
const listed = listMetrics();
/** Prometheus gives these to every target. */
const ITS_OWN = ['up'];
const TARGET_LABELS = ['job', 'instance', 'le'];

function isKnown(metric: string): boolean {
  if (ITS_OWN.includes(metric)) return true;
  if (/^(nodejs|process)_/.test(metric)) return true;
  const series = listed.flatMap(({ name, type }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  return series.includes(metric);
}

test.each(expressions)('%s queries metrics and labels that exist: %s', (_where, expression) => {
  const { metrics, labels } = listNames(expression);
  expect(metrics.length).toBeGreaterThan(0);
  expect(metrics.filter((metric) => !isKnown(metric))).toEqual([]);
  const allowed = listed
    .filter(({ name }) => metrics.some((metric) => metric.startsWith(name)))
    .flatMap((metric) => metric.labels);
  expect(labels.filter((label) => !TARGET_LABELS.includes(label) && !allowed.includes(label))).toEqual([]);
});

test('an expression that Prometheus would refuse, or with an unknown metric, is found', () => {
  expect(() => listNames('sum by (job (up)')).toThrow('not PromQL');
  expect(isKnown('gantry_no_such_metric')).toBe(false);
  expect(listNames('rate(gantry_a_total{source="b"}[5m])')).toEqual({
    metrics: ['gantry_a_total'],
    labels: ['source'],
  });
});

test('each metric of ours is shown in a dashboard or watched by an alert', () => {
  const used = expressions.flatMap(([, expression]) => listNames(expression).metrics);
  expect(listed.filter(({ name }) => !used.some((metric) => metric.startsWith(name))).map(({ name }) => name)).toEqual(
    [],
  );
});

test('each alert has its runbook, and each runbook its alert', () => {
  const runbooks = fs.readdirSync(path.join(root, 'docs/runbooks')).filter((name) => name !== 'README.md');
  expect(rules.map(({ annotations }) => annotations.runbook_url).sort()).toEqual(
    runbooks.map((name) => `docs/runbooks/${name}`).sort(),
  );
  const index = fs.readFileSync(path.join(root, 'docs/runbooks/README.md'), 'utf8');
  for (const { alert, annotations } of rules) {
    expect(annotations.runbook_url).toBe(`docs/runbooks/${alert}.md`);
    const text = fs.readFileSync(path.join(root, annotations.runbook_url), 'utf8');
    expect(text).toMatch(new RegExp(`^# ${alert}\n\n[^#]+\n## Diagnosis\n[^#]+\n## Resolution\n`));
    expect(index).toContain(`[${alert}](${alert}.md)`);
  }
});

test('runbooks name metrics that exist, and link to files that do', () => {
  for (const name of fs.readdirSync(path.join(root, 'docs/runbooks'))) {
    const text = fs.readFileSync(path.join(root, 'docs/runbooks', name), 'utf8');
    const metrics = text.match(/\b(gantry|nodejs|process)_[a-z0-9_]+/g) ?? [];
    const unknown = metrics.filter((metric) => !isKnown(metric) && !listed.some((of) => of.name === metric));
    expect({ name, unknown }).toEqual({ name, unknown: [] });
    const links = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => path.join(root, 'docs/runbooks', link));
    expect({ name, dead: links.filter((link) => !fs.existsSync(link)) }).toEqual({ name, dead: [] });
  }
});

test('Prometheus scrapes the services under the names that the rules use', () => {
  const { scrape_configs: jobs } = parse(readFile('prometheus.yaml'));
  expect(jobs.map(({ job_name: name }: { job_name: string }) => name)).toEqual(
    expect.arrayContaining(['worker-api', 'automation-api', 'skills-api', 'executor']),
  );
  expect(documented).toContain('`nodejs_eventloop_lag_p99_seconds`');
});

test('the collector has every part that its pipeline names, and by default one that needs no address', () => {
  const { receivers, processors, exporters, service } = parse(readFile('collector.yaml'));
  const { traces } = service.pipelines;
  expect(traces.receivers.filter((name: string) => !receivers[name])).toEqual([]);
  expect(traces.processors.filter((name: string) => !processors[name])).toEqual([]);
  expect(traces.exporters.join()).toMatch(/^\$\{env:TRACES_EXPORTER:-debug\}$/);
  expect(Object.keys(exporters)).toEqual(['debug', 'otlphttp']);
});

const withPromtool = isToolUnavailable('promtool') ? test.skip : test;

withPromtool(
  'promtool accepts the configuration and the rules, and each alert fires when it should and not before',
  async () => {
    assertTestTool('promtool');
    await run('promtool', ['check', 'config', '--syntax-only', path.join(folder, 'prometheus.yaml')]);
    await run('promtool', ['check', 'rules', path.join(folder, 'rules/gantry.yaml')]);
    const tests = path.join(folder, 'tests/gantry.test.yaml');
    await run('promtool', ['test', 'rules', tests]);
    const fired = parse(readFile('tests/gantry.test.yaml')).tests.flatMap((one: PromtoolTest) => one.alert_rule_test);
    for (const { alert } of rules) {
      const times = fired
        .filter((one: AlertTest) => one.alertname === alert)
        .map((one: AlertTest) => one.exp_alerts?.length ?? 0);
      expect({ alert, quiet: times.includes(0), fires: times.some((count: number) => count > 0) }).toEqual({
        alert,
        quiet: true,
        fires: true,
      });
    }
  },
  360_000,
);

interface AlertTest {
  alertname: string;
  exp_alerts?: unknown[];
}

interface PromtoolTest {
  alert_rule_test: AlertTest[];
}
