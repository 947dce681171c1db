import { Agent, request } from 'node:http';
import { PASSWORD, testWorkerApi } from '../../test/test-worker-api';

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

// The two sign-ins of the fixture itself come from another address than those of the tests.
const api = testWorkerApi({ rateLimits: { requestsPerMinute: 600, runsPerMinute: 120, signInsPerMinute: 10 } });

afterAll(async () => {
  agent.destroy();
});

interface Answer {
  status: number;
  retryAfter: string | undefined;
}

function signIn(address: string, email: string, password: string): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address };
  return new Promise((resolve, reject) => {
    const sent = request(`${api.url}/auth/login`, { method: 'POST', agent, headers }, (res) => {
      res.resume().once('end', () => {
        resolve({ status: res.statusCode ?? 0, retryAfter: res.headers['retry-after'] });
      });
    });
    sent.once('error', reject).end(JSON.stringify({ email, password }));
  });
}

test('two thousand wrong sign-ins neither refuse nor delay a right one from another address', async () => {
  const { email } = api.owner;
  const statuses = new Map<number, number>();
  const startedAt = Date.now();
  const attack = Promise.all(
    Array.from({ length: 32 }, async (_, worker) => {
      for (let i = worker; i < 2_000; i += 32) {
        const { status, retryAfter } = await signIn('203.0.113.66', email, `wrong ${i}`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 429 && !(Number(retryAfter) > 0)) throw new Error('429 without Retry-After');
      }
    }),
  );
  const during = await Promise.all(
    ['198.51.100.1', '198.51.100.2', '2001:db8:7::1'].map((address) => signIn(address, email, PASSWORD)),
  );
  await attack;
  const minutes = (Date.now() - startedAt) / 60_000;
  const after = await signIn('198.51.100.1', email, PASSWORD);
  expect([...during, after].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const tried = statuses.get(401) ?? 0;
  expect(tried).toBeGreaterThanOrEqual(10);
  // Each end of a minute during the attack frees some of the budget.
  expect(tried).toBeLessThanOrEqual(10 * (Math.ceil(minutes) + 1));
  expect(statuses.get(429)).toBe(2_000 - tried);
});

test('an IPv6 network counts as one address', async () => {
  const answers = [];
  for (let i = 0; i < 12; i++) answers.push(await signIn(`2001:db8:9:9::${i + 1}`, 'nobody@example.com', 'wrong'));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
  expect(answers.at(-1)?.status).toBe(429);
});
