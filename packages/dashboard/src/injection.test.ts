import type { Page } from 'playwright-core';
import { testSite } from './test/browser';
import { buildRun } from './test/fake-api';
import { buildApproval } from './test/fake-approvals';
import { buildCall, buildConversation } from './test/fake-chat';
import { buildConnection, buildTool } from './test/fake-connections';
import { buildStep, buildWorkerRun } from './test/fake-worker-runs';

const HIT = 'window.__executed = (window.__executed || 0) + 1';
const PAYLOADS = [
  `<script>${HIT}</script>`,
  `<img src=x onerror="${HIT}">`,
  `<svg onload="${HIT}"><a xlink:href="javascript:${HIT}">x</a></svg>`,
  `"><iframe srcdoc="<script>parent.${HIT}</script>"></iframe>`,
  `javascript:${HIT}`,
  `{{constructor.constructor('${HIT}')()}}`,
];
const ALL = PAYLOADS.join('\n');

const MARKDOWN = [
  ...PAYLOADS,
  `[click](javascript:${HIT})`,
  `[click](JaVaScRiPt:${HIT})`,
  `[click](&#106;avascript:${HIT})`,
  `[click](data:text/html,<script>${HIT}</script>)`,
  `[click](vbscript:x)`,
  `![x](x" onerror="${HIT})`,
  `![picture](https://tracker.example/pixel.png)`,
  `<javascript:${HIT}>`,
  `[ref]: javascript:${HIT}`,
  '[ref]',
  '[good](https://example.com)',
].join('\n\n');

/** No element or address of a text has become one of the page. */
async function expectNothingExecuted(page: Page): Promise<void> {
  const hrefs = await page.evaluate(() =>
    [...document.querySelectorAll('main a')].map((link) => (link as HTMLAnchorElement).protocol),
  );
  expect(hrefs.filter((protocol) => !/^(https?|blob):$/.test(protocol))).toEqual([]);
  expect(
    await page.evaluate(
      () => document.querySelectorAll('main script, main iframe, main [onerror], main [onload]').length,
    ),
  ).toBe(0);
  expect(await page.evaluate(() => (window as { __executed?: number }).__executed ?? 0)).toBe(0);
}

describe('text from automations is displayed, never executed', () => {
  const site = testSite();

  test('in names, descriptions, labels, logs, errors, every kind of output, and file names', async () => {
    const { api } = site;
    const types = ['text', 'markdown', 'json', 'csv', 'table', 'number', 'image', 'file'] as const;
    api.pages.set('aut_evil', {
      id: 'aut_evil',
      name: ALL,
      description: ALL,
      status: 'active',
      visibility: 'private',
      currentVersion: 2,
      url: `javascript:${HIT}`,
      inputSchema: {},
      access: 'member',
      canRun: true,
      missingSecrets: [ALL],
      inputs: [
        { name: 'a', label: ALL, description: ALL, placeholder: ALL, default: ALL },
        { name: 'b', label: ALL, type: 'select', options: PAYLOADS, default: PAYLOADS[0] },
        { name: '__proto__', label: 'proto', type: 'json', default: ALL },
      ],
      outputs: types.map((type) => ({ name: type, label: `${type} ${ALL}`, type })),
    });
    api.versions = [
      {
        version: 1,
        current: false,
        artifactId: 'art_1',
        entrypoint: ALL,
        fileCount: 1,
        totalSize: 1,
        message: ALL,
        createdBy: ALL,
        createdAt: Date.now(),
      },
    ];
    const file = { contentType: 'text/html', size: 9, sha256: '0'.repeat(64) };
    api.artifacts.set('af_1', { contentType: 'text/html', body: Buffer.from(`<script>${HIT}</script>`) });
    const done = buildRun({
      automationId: 'aut_evil',
      status: 'success',
      completedAt: Date.now(),
      durationMs: 5,
      artifacts: [
        { id: 'af_1', name: PAYLOADS[1] ?? '', ...file },
        { id: 'af_2', name: `../../${PAYLOADS[0]}`, ...file },
      ],
      result: {
        status: 'success',
        logs: ALL,
        outputs: {
          text: ALL,
          markdown: MARKDOWN,
          json: { [ALL]: PAYLOADS },
          csv: `${PAYLOADS[0]},b\n=cmd|' /C calc'!A0,"${PAYLOADS[1]?.replaceAll('"', '""')}"\n`,
          table: PAYLOADS.map((payload) => ({ [payload]: payload, formula: ` =HYPERLINK("x")` })),
          number: `${HIT}`,
          image: `data:image/svg+xml,<svg onload="${HIT}"/>`,
          file: 'af_1',
          [PAYLOADS[0] ?? '']: ALL,
        },
      },
    });
    const failed = buildRun({
      automationId: 'aut_evil',
      status: 'error',
      completedAt: Date.now(),
      inputs: { a: ALL },
      error: { code: 'exception', type: ALL, message: ALL, trace: ALL },
    });
    const live = buildRun({ automationId: 'aut_evil' });
    for (const payload of PAYLOADS) api.emit(live, 'log', { stream: 'stdout', level: 'error', text: payload });
    api.emit(live, 'progress', { fraction: 0.5, message: ALL });
    api.emit(live, 'log', { stream: 'stdout', level: 'info', text: 'the last line' });
    api.runs.push(live, failed, done);

    const page = await site.visitAsUser('/automations');
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(api.origin) && !request.url().startsWith('data:')) foreign.push(request.url());
    });
    await page.getByRole('link').filter({ hasText: 'onerror' }).waitFor();
    for (const [run, text] of [
      [live, 'the last line'],
      [failed, 'Stack trace'],
      [done, 'good'],
    ] as const) {
      await page.goto(`${api.origin}/a/aut_evil?run=${run.runId}`);
      await page.getByText(text, { exact: true }).waitFor();
      await page.getByRole('region', { name: 'Versions' }).getByText('onerror').waitFor();
    }
    for (const link of await page.getByText('click', { exact: true }).all()) await link.click();
    await page.getByRole('region', { name: /^file/ }).getByRole('link').click();

    await expectNothingExecuted(page);
    expect(foreign).toEqual([]);
    expect(await site.closePages()).toEqual([]);
  });
});

describe('text from workers, models and MCP servers is displayed, never executed', () => {
  const site = testSite();
  const ended = { status: 'completed' as const, completed_at: new Date().toISOString(), duration_ms: 5 };

  test('in outputs, steps, and previews of files of every type', async () => {
    const { api } = site;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${HIT}"><script>${HIT}</script></svg>`;
    const files = [
      ['notes.md', 'text/markdown', MARKDOWN],
      ['page.html', 'text/html', ALL],
      ['plot.svg', 'image/svg+xml', svg],
      ['data.json', 'application/json', JSON.stringify({ [ALL]: PAYLOADS })],
      ['rows.csv', 'text/csv', `${PAYLOADS[0]},b\n"${PAYLOADS[1]?.replaceAll('"', '""')}",2\n`],
      ['log.txt', 'text/plain', ALL],
    ] as const;
    const artifacts = files.map(([name, type, text], index) => {
      api.artifacts.set(`af_w${index}`, { contentType: type, body: Buffer.from(text) });
      return {
        id: `af_w${index}`,
        name,
        content_type: type,
        size: text.length,
        sha256: '0',
        download_url: `javascript:${HIT}`,
      };
    });
    const fake = buildWorkerRun({
      ...ended,
      output: {
        text: ALL,
        html: PAYLOADS,
        plot: svg,
        report: MARKDOWN,
        [ALL]: { [ALL]: ALL },
        link: `javascript:${HIT}`,
      },
      steps: [
        buildStep(1, ALL, { status: 'failed', error: { type: ALL, message: ALL } }),
        buildStep(2, 'good', { result: ALL }),
      ],
      artifacts,
    });
    api.workerRuns.push(fake);
    const page = await site.visitAsUser('/runs');
    await page.addInitScript(() => {
      const create = URL.createObjectURL;
      (window as { __types?: string[] }).__types = [];
      URL.createObjectURL = (made: Blob) => {
        (window as { __types?: string[] }).__types?.push(made.type);
        return create.call(URL, made);
      };
    });
    await page.goto(`${api.origin}/runs/${fake.run.id}`);
    await page.getByText('onerror').first().waitFor();
    for (const [name] of files) {
      const look = page.getByRole('button', { name: `Preview ${name}` });
      // A picture that may hold a script is downloaded only.
      if (name === 'plot.svg') expect(await look.count()).toBe(0);
      else {
        // The preview before moves this button while it loads: a click could miss it.
        await look.press('Enter');
        await page.getByRole('button', { name: `Close ${name}` }).waitFor();
      }
    }
    await page.getByRole('columnheader', { name: 'b', exact: true }).waitFor();
    await page.getByRole('link', { name: 'good' }).first().waitFor();
    // An address that opens as a document of this origin in another tab.
    const types = await page.evaluate(() => (window as { __types?: string[] }).__types);
    expect(new Set(types)).toEqual(new Set(['application/octet-stream']));
    await expectNothingExecuted(page);
    expect(await site.closePages()).toEqual([]);
  });

  test('in the chat, in approvals, and in the tools of a connection', async () => {
    const { api } = site;
    const call = buildCall({
      name: PAYLOADS[1] ?? '',
      title: ALL,
      arguments: { [ALL]: ALL },
      result: MARKDOWN,
      links: [`javascript:${HIT}`, `data:text/html,${ALL}`, '//evil.example/workers/x'],
    });
    const consent = buildCall({ name: 'connect_app', title: ALL, links: [`javascript:${HIT}`, 'vbscript:x'] });
    const conversation = buildConversation(ALL, [
      { message: ALL, parts: [{ type: 'text', text: MARKDOWN, partial: false }, call, consent] },
    ]);
    api.chat.list.unshift(conversation);
    api.approvals.list.push(
      buildApproval('apr_evil', { title: ALL, message: MARKDOWN, data: { [ALL]: ALL }, form: null }),
    );
    const id = 'con_evil';
    api.connections.list.push(buildConnection(id, { kind: 'mcp', label: ALL, account_label: ALL, problem: ALL }));
    const schema = { type: 'object', properties: { [PAYLOADS[1] ?? '']: { type: 'string', description: ALL } } };
    api.connections.tools[id] = [buildTool(PAYLOADS[1] ?? '', { description: MARKDOWN, input_schema: schema })];

    const page = await site.visitAsUser(`/chat/${conversation.id}`);
    await page.getByRole('link', { name: 'good' }).first().waitFor();
    for (const summary of await page.locator('main summary').all()) await summary.click();
    await expectNothingExecuted(page);
    for (const path of ['/approvals', `/connections/${id}`]) {
      await page.goto(api.origin + path);
      await page.locator('main').getByText('onerror').first().waitFor();
      for (const summary of await page.locator('main summary').all()) await summary.click();
      await expectNothingExecuted(page);
    }
    expect(await site.closePages()).toEqual([]);
  });
});
