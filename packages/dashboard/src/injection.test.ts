import { testSite } from './test/browser';
import { newRun } from './test/fake-api';

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

describe('what automations write is shown, never executed', () => {
  const site = testSite();

  test('in names, descriptions, labels, logs, errors, every kind of output, and file names', async () => {
    const { api } = site;
    const types = ['text', 'markdown', 'json', 'csv', 'table', 'number', 'image', 'file'] as const;
    api.pages.set('aut_evil', {
      ...{ id: 'aut_evil', name: ALL, description: ALL, status: 'active', visibility: 'private', currentVersion: 2 },
      ...{ url: `javascript:${HIT}`, inputSchema: {}, access: 'member', canRun: true, missingSecrets: [ALL] },
      inputs: [
        { name: 'a', label: ALL, description: ALL, placeholder: ALL, default: ALL },
        { name: 'b', label: ALL, type: 'select', options: PAYLOADS, default: PAYLOADS[0] },
        { name: '__proto__', label: 'proto', type: 'json', default: ALL },
      ],
      outputs: types.map((type) => ({ name: type, label: `${type} ${ALL}`, type })),
    });
    api.versions = [
      {
        ...{ version: 1, current: false, artifactId: 'art_1', entrypoint: ALL, fileCount: 1, totalSize: 1 },
        ...{ message: ALL, createdBy: ALL, createdAt: Date.now() },
      },
    ];
    const file = { contentType: 'text/html', size: 9, sha256: '0'.repeat(64) };
    api.artifacts.set('af_1', { contentType: 'text/html', body: Buffer.from(`<script>${HIT}</script>`) });
    const done = newRun({
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
    const failed = newRun({
      ...{ automationId: 'aut_evil', status: 'error', completedAt: Date.now(), inputs: { a: ALL } },
      error: { code: 'exception', type: ALL, message: ALL, trace: ALL },
    });
    const live = newRun({ automationId: 'aut_evil' });
    for (const payload of PAYLOADS) api.emit(live, 'log', { stream: 'stdout', level: 'error', text: payload });
    api.emit(live, 'progress', { fraction: 0.5, message: ALL });
    api.emit(live, 'log', { stream: 'stdout', level: 'info', text: 'the last line' });
    api.runs.push(live, failed, done);

    const page = await site.signedIn('/automations');
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(api.origin) && !request.url().startsWith('data:')) foreign.push(request.url());
    });
    await page.getByRole('link').filter({ hasText: 'onerror' }).waitFor();
    for (const [run, text] of [
      [live, 'the last line'],
      [failed, 'Where in the code'],
      [done, 'good'],
    ] as const) {
      await page.goto(`${api.origin}/a/aut_evil?run=${run.runId}`);
      await page.getByText(text, { exact: true }).waitFor();
      await page.getByRole('region', { name: 'Versions' }).getByText('onerror').waitFor();
    }
    for (const link of await page.getByText('click', { exact: true }).all()) await link.click();
    await page.getByRole('region', { name: /^file/ }).getByRole('link').click();

    const hrefs = await page.evaluate(() =>
      [...document.querySelectorAll('main a')].map((link) => (link as HTMLAnchorElement).protocol),
    );
    expect(hrefs.filter((protocol) => !/^https?:$/.test(protocol))).toEqual([]);
    expect(
      await page.evaluate(
        () => document.querySelectorAll('main script, main iframe, main [onerror], main [onload]').length,
      ),
    ).toBe(0);
    expect(await page.evaluate(() => (window as { __executed?: number }).__executed ?? 0)).toBe(0);
    expect(foreign).toEqual([]);
    expect(await site.leave()).toEqual([]);
  });
});
