import type { FakeApi } from './fake-api';
import { buildRun } from './fake-api';

const DAY_MS = 86_400_000;

/** Adds an automation with every type of input and output, and a month of runs. */
export function addSalesAutomation(api: FakeApi): void {
  api.pages.set('aut_sales', {
    id: 'aut_sales',
    name: 'Weekly sales report',
    description:
      'Reads the orders of a week, adds them up by region and draws the trend. Goes to the board every Monday.',
    status: 'active',
    visibility: 'private',
    currentVersion: 3,
    url: `${api.origin}/a/aut_sales`,
    inputs: [
      {
        name: 'region',
        label: 'Region',
        type: 'select',
        options: ['All', { value: 'eu', label: 'Europe' }, { value: 'us', label: 'United States' }],
        default: 'eu',
      },
      {
        name: 'title',
        label: 'Report title',
        type: 'text',
        required: true,
        min_length: 3,
        max_length: 60,
        placeholder: 'Week 47',
        description: 'Printed on the first line.',
      },
      { name: 'week_of', label: 'Week of', type: 'date', default: '2026-11-16' },
      { name: 'limit', label: 'Rows', type: 'integer', minimum: 1, maximum: 500, default: 50 },
      { name: 'threshold', label: 'Warn below', type: 'number', minimum: 0 },
      { name: 'source', label: 'Source', type: 'url', default: 'https://shop.example.com/orders' },
      { name: 'notes', label: 'Notes', type: 'textarea' },
      { name: 'filters', label: 'Filters', type: 'json', description: 'As the shop takes them.' },
      { name: 'orders', label: 'Orders', type: 'file', accepts: ['.csv'], max_size_mb: 5 },
      { name: 'draft', label: 'Draft only', type: 'boolean', description: 'Sends nothing to anybody.' },
    ],
    outputs: [
      { name: 'total', label: 'Total sales', type: 'number' },
      { name: 'summary', label: 'Summary', type: 'markdown' },
      { name: 'by_region', label: 'By region', type: 'table' },
      { name: 'raw', label: 'Orders', type: 'csv' },
      { name: 'chart', label: 'Chart', type: 'image' },
      { name: 'details', label: 'Details', type: 'json' },
      { name: 'note', label: 'Note', type: 'text' },
      { name: 'report', label: 'Report', type: 'file' },
    ],
    inputSchema: {},
    access: 'member',
    canRun: true,
    missingSecrets: [],
  });
  api.versions = [3, 2, 1].map((version) => ({
    version,
    current: version === 3,
    artifactId: `art_${version}`,
    entrypoint: 'main.py',
    fileCount: 2,
    totalSize: 2_400,
    message: { 3: 'Count returns as negative', 2: 'Europe as the default region', 1: null }[version] ?? null,
    createdBy: null,
    createdAt: Date.now() - (4 - version) * 3 * DAY_MS,
  }));
  api.artifacts.set('af_chart', { contentType: 'image/svg+xml', body: Buffer.from(CHART_SVG) });
  api.artifacts.set('af_report', { contentType: 'application/pdf', body: Buffer.from('%PDF-1.4') });
  for (let day = 24; day >= 1; day--) {
    const startedAt = Date.now() - day * DAY_MS;
    const durationMs = 900 + ((day * 7919) % 4_100);
    const failed = day % 9 === 4;
    const base = {
      automationId: 'aut_sales',
      version: day > 9 ? 2 : 3,
      trigger: day % 3 ? 'schedule' : 'api',
      startedAt,
      durationMs,
    } as const;
    api.runs.unshift(
      buildRun({
        ...base,
        ...(failed
          ? { status: day === 4 ? 'timeout' : 'error', error: RUN_ERROR }
          : {
              status: 'success',
              result: { status: 'success', outputs: buildOutputs(day), logs: 'read 412 orders\nadded up 5 regions\n' },
            }),
        inputs: { region: 'eu', title: `Week ${47 - Math.floor(day / 7)}`, limit: 50 },
        createdAt: startedAt,
        completedAt: startedAt + durationMs,
        artifacts: failed ? [] : RUN_FILES,
      }),
    );
  }
}

const RUN_ERROR = {
  code: 'exception',
  type: 'ValueError',
  message: 'no orders for region "eu" in the week of 2026-11-02',
  trace:
    'File "main.py", line 31, in run\n    totals = add_up(orders)\nFile "totals.py", line 12, in add_up\n    raise ValueError(f"no orders for region {region!r} in the week of {week}")',
} as const;

const DIGEST = '0'.repeat(64);
export const RUN_FILES = [
  { id: 'af_chart', name: 'chart.svg', contentType: 'image/svg+xml', size: 1_204, sha256: DIGEST },
  { id: 'af_report', name: 'report.pdf', contentType: 'application/pdf', size: 48_213, sha256: DIGEST },
  {
    id: 'af_more',
    name: 'orders-cleaned.parquet',
    contentType: 'application/octet-stream',
    size: 1_920_334,
    sha256: DIGEST,
  },
];

const REGIONS = ['Northern Europe', 'Southern Europe', 'United Kingdom', 'Ireland', 'Baltics'];

export const buildOutputs = (seed: number): Record<string, unknown> => ({
  total: 41_250.5 + ((seed * 6_151) % 17_000) - seed * 300,
  summary: `## A good week\n\nSales rose by **8.4 %**. Most of it came from *Northern Europe*; see [the shop](https://shop.example.com).\n\n- 412 orders, 9 returns\n- \`BALTIC10\` was used 31 times\n\n> Ireland needs a second look.`,
  by_region: REGIONS.map((region, index) => ({
    region,
    orders: 140 - index * 27,
    sales: 18_400.25 - index * 3_912.5,
    returns: index,
  })),
  raw: 'order,region,amount\n1001,eu,120.50\n1002,"eu, north",80\n1003,eu,-15.25\n',
  chart: { name: 'chart.svg' },
  details: {
    window: { from: '2026-11-16', to: '2026-11-22' },
    sources: ['shop', 'returns'],
    retries: 0,
    partial: false,
    cursor: null,
  },
  note: 'Sent to nobody: this was a draft.',
  report: 'report.pdf',
});

const CHART_BARS = [60, 85, 70, 110, 95, 130, 120]
  .map(
    (height, index) =>
      `<rect x="${20 + index * 52}" y="${160 - height}" width="34" height="${height}" fill="#0b5c7a"/>`,
  )
  .join('');
const CHART_SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="180" viewBox="0 0 400 180"><rect width="400" height="180" fill="#fff"/>${CHART_BARS}<path d="M10 160h380" stroke="#888"/></svg>`;
