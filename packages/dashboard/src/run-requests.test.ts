import type { Page } from 'playwright-core';
import { testSite } from './test/browser';
import { checkPage } from './test/check-page';
import { buildWorkerRun, type FakeWorkerRun } from './test/fake-worker-runs';

describe('the requests on the page of a worker’s run', () => {
  const site = testSite();

  function add(fields: Parameters<typeof buildWorkerRun>[0] = {}): FakeWorkerRun {
    const fake = buildWorkerRun(fields);
    site.api.workerRuns.push(fake);
    return fake;
  }
  const ended = {
    status: 'completed' as const,
    output: {},
    completed_at: new Date().toISOString(),
    duration_ms: 2_400,
  };

  function emitRequest(fake: FakeWorkerRun, fields: object = {}): void {
    const at = new Date(Date.parse(fake.run.started_at ?? '') + 1_684).toISOString();
    site.api.emit(fake, 'request', {
      method: 'GET',
      scheme: 'https',
      host: 'api.github.com',
      port: 443,
      path: '/user/repos',
      status: 200,
      bytes_sent: 312,
      bytes_received: 20_480,
      duration_ms: 184,
      credentials: ['github'],
      problem: null,
      at,
      ...fields,
    });
  }
  const refusal = { kind: 'refused', message: "it is not in this worker's network.allow" };
  const unseen = { method: null, path: null, status: null, credentials: [] };

  function emitAllRequests(fake: FakeWorkerRun): void {
    emitRequest(fake, { echoed: 2 });
    emitRequest(fake, {
      echoed: 1,
      method: 'POST',
      path: '/repos/acme/a-rather-long-name-of-a-shop/issues/1204/comments',
      status: 422,
    });
    emitRequest(fake, { ...unseen, host: 'db.example.com', port: 8443 });
    emitRequest(fake, {
      ...unseen,
      host: 'evil.example.com',
      bytes_sent: 0,
      bytes_received: 0,
      duration_ms: 2,
      problem: refusal,
    });
    emitRequest(fake, {
      status: null,
      duration_ms: 1_200,
      problem: { kind: 'failed', message: 'it did not respond within 10 s' },
    });
  }

  const openRun = (
    fake: FakeWorkerRun,
    ...options: Parameters<typeof site.visitAsUser> extends [string, ...infer R] ? R : never
  ) => site.visitAsUser(`/runs/${fake.run.id}`, ...options);
  const getRegion = (page: Page) => page.getByRole('region', { name: 'Requests' });
  const getRows = (page: Page) => getRegion(page).locator('tbody tr');

  test('axe finds nothing and nothing is wider than the screen', async () => {
    const fake = add(ended);
    emitAllRequests(fake);
    const page = await openRun(fake);
    await getRows(page).nth(4).waitFor();
    await checkPage(page, 'run-requests');
  });

  test('each request is a row with its response, its substituted credentials, and the rule that refused it', async () => {
    const fake = add(ended);
    emitAllRequests(fake);
    const page = await openRun(fake);
    const region = getRegion(page);
    await region.getByText('5 requests to 3 hosts, 1 blocked, 1 failed, 1.2 KB sent, 81.9 KB received').waitFor();
    await region.getByText('received, credential value found and masked 3 times in responses').waitFor();
    const texts = await getRows(page).allInnerTexts();
    expect(texts[0]).toMatch(
      /^GET api\.github\.com\/user\/repos\s+using github\s+credential value found and masked 2 times in responses\s+200\s+20\.5 KB\s+312 B sent\s+\+1\.5 s\s+took 184 ms$/,
    );
    expect(texts[2]).toContain('Connection to db.example.com:8443');
    expect(texts[2]).toContain('Unknown');
    expect(texts[3]).toContain("It is not in this worker's network.allow");
    expect(texts[3]).toContain('Blocked');
    await region.getByLabel('Show only blocked and failed requests').check();
    expect(await getRows(page).count()).toBe(2);
  });

  test('they appear while the run continues, and a run without any says so', async () => {
    const fake = add();
    const page = await openRun(fake);
    const region = getRegion(page);
    await region.getByText('appear here as they complete').waitFor();
    emitRequest(fake);
    await region.getByText('1 request to 1 host').waitFor();
    for (let n = 0; n < 60; n++) emitRequest(fake, { path: `/page/${n}` });
    await region.getByText('61 requests to 1 host').waitFor();
    expect(await getRows(page).count()).toBe(50);
    await region.getByRole('button', { name: 'Show 11 more of 61' }).click();
    await region.getByText('/page/59').waitFor();
    await page.goto(`${site.api.origin}/runs/${add(ended).run.id}`);
    await region.getByText('No requests to other hosts.').waitFor();
  });

  test('requests of a retried run name their attempt', async () => {
    const fake = add({ ...ended, attempt: 2 });
    emitRequest(fake);
    site.api.emit(fake, 'status', { status: 'running', at: fake.run.started_at });
    fake.events.push({ ...(fake.events[0] as (typeof fake.events)[number]), id: 2_000_002 });
    const page = await openRun(fake);
    await getRows(page).nth(1).waitFor();
    expect(await getRows(page).first().textContent()).toContain('attempt 1');
    expect(await getRows(page).last().textContent()).toContain('attempt 2');
  });
});
