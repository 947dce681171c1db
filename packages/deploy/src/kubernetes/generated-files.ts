import fs from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { buildChartFiles } from './chart';
import { replaceNetworkTables } from './network-doc';
import { buildNetworkPolicies } from './network-policies';
import { render, root } from './rendered-manifests';

const GENERATED = '# Generated from packages/deploy/src/kubernetes/network-edges.ts.\n';

export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}

/** Content by path, of files that are made from tables. */
export function filesFromTables(): Record<string, string> {
  const networkDoc = 'docs/operations/network.md';
  return {
    'k8s/components/network-policies/policies.yaml':
      GENERATED +
      buildNetworkPolicies()
        .map((each) => stringify(each, { aliasDuplicateObjects: false }))
        .join('---\n'),
    'k8s/components/monitoring/rules.yaml': prometheusRule(),
    [networkDoc]: replaceNetworkTables(fs.readFileSync(path.join(root, networkDoc), 'utf8')),
  };
}

/** The rules that promtool checks, as the Prometheus Operator reads them. */
function prometheusRule(): string {
  const { groups } = parse(fs.readFileSync(path.join(root, 'observability/rules/gantry.yaml'), 'utf8'));
  const metadata = { name: 'gantry', namespace: 'gantry' };
  const object = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata, spec: { groups } };
  return `# Generated from observability/rules/gantry.yaml.\n${stringify(object, { lineWidth: 0 })}`;
}

/**
 * The Helm chart, made from what Kustomize renders: content by path in the chart.
 * @throws Error without kubectl or Kustomize
 */
export function filesOfChart(): Record<string, string> {
  const described = fs.readFileSync(path.join(root, 'k8s/chart/Chart.yaml'), 'utf8');
  return { 'Chart.yaml': described, ...buildChartFiles(render('k8s/overlays/local')) };
}
