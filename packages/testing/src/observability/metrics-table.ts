/** The table of docs/operations/metrics.md, which everything that uses a metric is compared with. */
import fs from 'node:fs';
import path from 'node:path';

export const root = path.resolve(__dirname, '../../../..');

const APIS = ['worker-api', 'automation-api', 'skills-api'];

export interface ListedMetric {
  name: string;
  type: string;
  labels: string[];
  services: string[];
  help: string;
}

const splitCell = (cell = ''): string[] => cell.split(',').flatMap((word) => word.trim() || []);

export function listMetrics(): ListedMetric[] {
  const text = fs.readFileSync(path.join(root, 'docs/operations/metrics.md'), 'utf8');
  return [...text.matchAll(/^\| `(\w+)` \|(.*)\|([^|]*)\|([^|]*)\|([^|]*)\|$/gm)].map(
    ([, name = '', type = '', labels, of = '', help = '']) => ({
      name,
      type: type.trim(),
      labels: splitCell(labels),
      services: of.trim() === 'APIs' ? APIS : splitCell(of),
      help: help.trim(),
    }),
  );
}
