import fs from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { chartFiles } from './chart';
import { withNetworkTables } from './network-doc';
import { networkPolicies } from './network-policies';
import { kustomize, render, root } from './rendered';

const GENERATED = '# Generated from packages/deploy/src/kubernetes/edges.ts.\n';

/** Content by absolute path, of files that are made from tables. */
export function filesFromTables(): Record<string, string> {
  const networkDoc = path.join(root, 'docs/operations/network.md');
  return {
    [path.join(root, 'k8s/components/network-policies/policies.yaml')]:
      GENERATED +
      networkPolicies()
        .map((each) => stringify(each, { aliasDuplicateObjects: false }))
        .join('---\n'),
    [path.join(root, 'k8s/components/monitoring/rules.yaml')]: prometheusRule(),
    [networkDoc]: withNetworkTables(fs.readFileSync(networkDoc, 'utf8')),
  };
}

/** The rules that promtool checks, as the Prometheus Operator reads them. */
function prometheusRule(): string {
  const { groups } = parse(fs.readFileSync(path.join(root, 'observability/rules/gantry.yaml'), 'utf8'));
  const metadata = { name: 'gantry', namespace: 'gantry' };
  const object = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata, spec: { groups } };
  return `# Generated from observability/rules/gantry.yaml.\n${stringify(object, { lineWidth: 0 })}`;
}

/** The same of the chart, which Kustomize has to render first. @throws Error without it */
export function filesOfChart(): Record<string, string> {
  if (!kustomize) throw new Error('neither kustomize nor kubectl is on PATH');
  const files = Object.entries(chartFiles(render('k8s/overlays/local')));
  return Object.fromEntries(files.map(([name, text]) => [path.join(root, 'k8s/chart', name), text]));
}
