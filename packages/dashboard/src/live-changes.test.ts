import { waitUntil } from '@gantry/testing';
import { testSite } from './test/browser';
import { buildApproval } from './test/fake-approvals';
import { buildWorker, createWorkerState } from './test/fake-workers';

describe('live changes', () => {
  const site = testSite();

  const addApproval = (title: string) => site.api.approvals.list.push(buildApproval(`apr_${title}`, { title }));
  const waitForConnection = (times = 1) =>
    waitUntil(() => site.api.changes.lastEventIds.length >= times && site.api.changes.watchers.size > 0);

  test('changes by others appear without a reload, and nothing is polled', async () => {
    const page = await site.visitAsUser('/approvals');
    await waitForConnection();
    addApproval('Pay the invoice?');
    site.api.changes.emit('change', { noun: 'approvals', id: 'apr_1' });
    await page.getByText('Pay the invoice?').first().waitFor();
    addApproval('Send the letter?');
    site.api.changes.emit('reset', {});
    await page.getByText('Send the letter?').first().waitFor();
  });

  test('inputs that are being entered stay when another version is saved, unless it declares other inputs', async () => {
    const worker = buildWorker('price-watch', { inputs: [{ name: 'price', label: 'Price', type: 'number' }] });
    site.api.workers = { ...createWorkerState(), list: [worker] };
    const page = await site.visitAsUser('/workers/price-watch');
    const price = page.getByLabel('Price', { exact: true });
    await price.fill('21');
    await waitForConnection();
    const save = async (change: Partial<typeof worker>) => {
      Object.assign(worker, { version: (worker.version ?? 0) + 1 }, change);
      site.api.changes.emit('change', { noun: 'workers', id: worker.id });
      await page.getByRole('heading', { name: worker.name, level: 1 }).waitFor();
    };
    await save({ name: 'Another rate' });
    expect(await price.inputValue()).toBe('21');
    const amount = { name: 'amount', label: 'Amount', type: 'number' };
    await save({ name: 'Amounts as well', inputs: [...worker.inputs, amount] as typeof worker.inputs });
    await page.getByLabel('Amount').waitFor();
  });

  test('changes of other resources cause no requests', async () => {
    const page = await site.visitAsUser('/approvals');
    await waitForConnection();
    await page.getByRole('heading', { name: 'Approvals', exact: true }).waitFor();
    const countRequests = () => site.api.requests.filter(({ line }) => line === 'GET /api/approvals').length;
    const before = countRequests();
    site.api.changes.emit('change', { noun: 'secrets' });
    site.api.changes.emit('change', { noun: 'a_noun_of_the_future' });
    await page.waitForTimeout(1_500);
    expect(countRequests()).toBe(before);
  });

  test('a lost connection resumes where it stopped, and is shown only if it lasts', async () => {
    const page = await site.visitAsUser('/approvals');
    await waitForConnection();
    site.api.changes.emit('change', { noun: 'approvals' });
    await page.waitForTimeout(300);
    site.api.changes.drop();
    await waitForConnection(2);
    expect(site.api.changes.lastEventIds.at(-1)).toBe('1-fake');
    const note = page.getByText('Disconnected from Gantry');
    expect(await note.count()).toBe(0);
    site.api.changes.refusal = 503;
    site.api.changes.drop();
    await note.waitFor();
    site.api.changes.refusal = null;
    await note.waitFor({ state: 'detached' });
  });

  test('one of nine tabs reads the changes for all, and another takes over when it is closed or left', async () => {
    const first = await site.visitAsUser('/approvals');
    const tabs = [first];
    while (tabs.length < 9) {
      const tab = await first.context().newPage();
      await tab.goto(`${site.api.origin}/approvals`);
      await tab.getByRole('heading', { level: 1 }).waitFor();
      tabs.push(tab);
    }
    const oneReads = (times: number) =>
      waitUntil(() => site.api.changes.lastEventIds.length >= times && site.api.changes.watchers.size === 1);
    const allShow = async (title: string) => {
      addApproval(title);
      site.api.changes.emit('change', { noun: 'approvals' });
      for (const tab of tabs) await tab.getByText(title).first().waitFor();
    };
    await oneReads(9);
    await allShow('Pay the invoice?');
    await tabs.pop()?.close();
    await oneReads(10);
    expect(site.api.changes.lastEventIds.at(-1)).toBe('1-fake');
    await allShow('Send the letter?');
    for (const tab of tabs) await tab.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pagehide')));
    await waitUntil(() => site.api.changes.watchers.size === 0);
    addApproval('Sign the contract?');
    site.api.changes.emit('change', { noun: 'approvals' });
    for (const tab of tabs) await tab.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow')));
    await oneReads(11);
    await allShow('Book the room?');
  });

  test('a page that failed to load recovers by itself, and says so if that takes long', async () => {
    site.api.faults.set('GET /api/approvals', 503);
    const page = await site.visitAsUser('/approvals');
    await page.getByRole('alert').first().waitFor();
    addApproval('Pay the invoice?');
    site.api.faults.set('GET /api/approvals', 'stalled');
    const note = page.getByText('Gantry is slow to respond');
    await note.waitFor();
    site.api.faults.clear();
    await page.getByText('Pay the invoice?').first().waitFor();
    await note.waitFor({ state: 'detached' });
  });

  test('a signed-out visitor opens no stream', async () => {
    const page = await site.visit();
    await page.goto(`${site.api.origin}/sign-in`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.waitForTimeout(500);
    expect(site.api.changes.lastEventIds).toEqual([]);
  });
});
