import { randomBytes } from 'node:crypto';
import { createTokenHasher } from '@gantry/auth';
import { setupResource, waitUntil } from '@gantry/testing';
import { parseKeyRing } from '@gantry/vault';
import { createCaller } from '../test/caller';
import { setupMail } from '../test/mail-catcher';
import { testWorkerApi } from '../test/test-worker-api';
import { buildReviewUrl, isValidLink, parseApprovalId } from './review-link';

const pepper = (version: string) => `${version}:${randomBytes(32).toString('base64')}`;
const [oldPepper, newPepper] = [pepper('v1'), pepper('v2')];

let clock = 0;
const mail = setupMail();
const api = testWorkerApi(() => ({
  tokenPeppers: parseKeyRing(`${oldPepper},${newPepper}`),
  smtpUrl: mail.url,
  now: () => new Date(Date.now() + clock),
}));
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const visitor = setupResource(() => createCaller(api.url));
afterEach(() => {
  clock = 0;
});

const files = [{ path: 'main.py', content: 'def run(context):\n    return 1\n' }];
const LINK = /^http:\/\/dashboard\.test\/review\/(rvw_[\w-]{21}\.[\w-]{43})$/;
const getLinkPath = (approval: { review_url: string }): string => `/api/reviews/${LINK.exec(approval.review_url)?.[1]}`;

async function startHeldRun(approvals: object = {}) {
  const body = { name: 'Publish', files, approvals: { required: true, ...approvals } };
  const worker = (await owner.post('/api/workers', body).expect(201)).body.id;
  const runId: string = (await owner.post(`/api/workers/${worker}/runs`).expect(201)).body.run_id;
  const [approval] = (await owner.get(`/api/approvals?run_id=${runId}`).expect(200)).body;
  return { runId, approval, path: approval.review_url ? getLinkPath(approval) : '' };
}

const getRunStatus = async (runId: string) => (await owner.get(`/api/runs/${runId}`).expect(200)).body.status;

test('the holder of the link sees the request, and decides without an account', async () => {
  const { runId, approval, path } = await startHeldRun();
  const { body } = await visitor.get(path).expect(200);
  expect(body).toMatchObject({
    approval_id: approval.id,
    status: 'pending',
    title: 'Run Publish',
    worker_name: 'Publish',
    started_by: 'owner@example.com',
    expires_at: approval.expires_at,
  });
  const decided = await visitor.post(`${path}/approve`, { name: ' Grace ', reason: 'go' }).expect(200);
  expect(decided.body).toMatchObject({ status: 'approved', decided_by: 'link: Grace', reason: 'go' });
  expect(await getRunStatus(runId)).toBe('queued');
  const seen = await owner.get(`/api/approvals/${approval.id}`).expect(200);
  expect(seen.body).toMatchObject({ decided_by: 'link: Grace', review_url: null });
  const again = await visitor.post(`${path}/reject`).expect(409);
  expect(again.body).toMatchObject({
    code: 'already_decided',
    detail: expect.stringContaining('approved by link: Grace'),
  });
  expect((await visitor.get(path).expect(200)).body.status).toBe('approved');
  const log = await owner.get(`/api/audit-log?resource_id=${approval.id}`).expect(200);
  expect(log.body[0].actor).toMatchObject({ kind: 'link', id: null, label: 'link: Grace' });
});

test('a link that is wrong, replaced, expired or of a deleted approval responds with the same bytes', async () => {
  const { approval, path } = await startHeldRun();
  const other = await startHeldRun();
  const [token = '', signature = ''] = path.split('.');
  const swapped = `${token}.${other.path.split('.')[1]}`;
  const renewed = await owner.post(`/api/approvals/${approval.id}/link`).expect(200);
  expect(getLinkPath(renewed.body)).not.toBe(path);
  await visitor.get(getLinkPath(renewed.body)).expect(200);
  const refused = [
    path,
    swapped,
    `${token}.${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : 'A'}`,
    '/api/reviews/rvw_nothing',
    `/api/reviews/${'x'.repeat(3_000)}`,
    `/api/reviews/rvw_${'a'.repeat(21)}.${'b'.repeat(43)}`,
  ];
  const answers = await Promise.all(refused.flatMap((each) => [visitor.get(each), visitor.post(`${each}/approve`)]));
  clock = 8 * 86_400_000;
  answers.push(await visitor.get(getLinkPath(renewed.body)), await visitor.post(`${other.path}/reject`));
  for (const { status, text } of answers) expect({ status, text }).toEqual({ status: 404, text: answers[0]?.text });
  clock = 0;
  expect((await owner.get(`/api/approvals/${approval.id}`)).body.status).toBe('pending');
});

test('an email that asks for a decision contains the link, and the log of deliveries does not', async () => {
  const alert = { on: ['approval.requested'], email_to: 'boss@example.com' };
  const { id } = (await owner.post('/api/alerts', alert).expect(201)).body;
  const { approval, path } = await startHeldRun();
  const listDelivered = async () => {
    await api.deps.deliveryLoop.tick();
    const { body } = await owner.get(`/api/alerts/${id}/deliveries?status=delivered`).expect(200);
    return body[0];
  };
  const delivery = await waitUntil(listDelivered);
  expect(await mail.messageTo('boss@example.com')).toContain(approval.review_url);
  expect(JSON.stringify(delivery)).not.toContain('rvw_');
  const { rows } = await api.database.pool.query('SELECT payload FROM alert_deliveries');
  expect(JSON.stringify(rows)).not.toContain('rvw_');
  await visitor.post(`${path}/approve`).expect(200);
  await owner.remove(`/api/alerts/${id}`).expect(204);
});

test('links outlive a rotation of peppers, and not the pepper itself', async () => {
  const { path } = await startHeldRun();
  const token = path.split('/').at(-1) as string;
  const approval = await api.deps.prisma.approval.findUniqueOrThrow({
    where: { id: parseApprovalId(token) as string },
  });
  const createHasher = (keys: string) => createTokenHasher(parseKeyRing(keys));
  const old = buildReviewUrl(createHasher(oldPepper), 'http://dashboard.test', approval)?.split('/').at(-1) as string;
  expect(isValidLink(api.deps.hasher, approval, old)).toBe(true);
  expect(isValidLink(createHasher(newPepper), approval, token)).toBe(true);
  expect(isValidLink(createHasher(newPepper), approval, old)).toBe(false);
});

test('a worker can disable links', async () => {
  const { approval } = await startHeldRun({ public_links: false });
  expect(approval.review_url).toBeNull();
  const { body } = await owner.post(`/api/approvals/${approval.id}/link`).expect(409);
  expect(body.code).toBe('no_public_links');
});

test('a new link is for members who can decide, while a decision is pending', async () => {
  const { approval, path } = await startHeldRun();
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  await viewer.post(`/api/approvals/${approval.id}/link`).expect(403);
  await visitor.post(`${path}/reject`, { reason: 'no' }).expect(200);
  const { body } = await owner.post(`/api/approvals/${approval.id}/link`).expect(409);
  expect(body.code).toBe('already_decided');
});

test.each([{ name: 'a\nb' }, { name: 'x'.repeat(101) }, { other: 1 }, { data: 'x' }])(
  'a body like %.40j is refused',
  async (body) => {
    const { path } = await startHeldRun();
    await visitor.post(`${path}/approve`, body).expect(400);
  },
);

test('the token of a link is in no log', async () => {
  const { path } = await startHeldRun();
  await visitor.get(path).expect(200);
  await visitor.post(`${path}/approve`).expect(200);
  await visitor.post(`${path}/approve`).expect(409);
  const logged = await waitUntil(() => api.logs.text().includes('/api/reviews/:token') && api.logs.text());
  expect(logged).not.toContain(path.split('.')[1]);
});

test('a browser on the dashboard can send requests without credentials', async () => {
  const { path } = await startHeldRun();
  const asked = await fetch(`${api.url}${path}/approve`, {
    method: 'OPTIONS',
    headers: {
      Origin: 'http://dashboard.test',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'content-type',
    },
  });
  expect(asked.headers.get('access-control-allow-origin')).toBe('http://dashboard.test');
  expect(asked.headers.get('access-control-allow-headers')).toContain('content-type');
});
