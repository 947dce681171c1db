/** The question whether a process lives is answered whatever else goes on. */
import { type Stack, startStack } from './stack';
import { waitUntil } from './wait-until';

let stack: Stack;
beforeAll(async () => {
  // The contract's limits, not the generous ones of other tests.
  const env = { RATE_LIMIT_REQUESTS_PER_MINUTE: '20', RATE_LIMIT_SIGN_INS_PER_MINUTE: '5' };
  stack = await startStack({ skillsApi: true, gateway: true, env });
});
afterAll(() => stack?.stop());

const surfaces = () => Object.values(stack.gateway as Record<string, string>);

test('a bad credential and an exhausted rate limit do not fail health checks', async () => {
  const headers = {
    Authorization: 'Bearer wst_nonsense',
    'x-svc-token': 'svc_nonsense',
    Cookie: 'svc_cloud_session=x',
  };
  const protectedPaths = ['/api/workers', '/api/automations', '/api/v1/me/skills'];
  for (const [i, url] of surfaces().entries()) {
    const spent = await Promise.all(Array.from({ length: 60 }, () => fetch(url + protectedPaths[i], { headers })));
    expect(new Set(spent.map(({ status }) => status))).toContain(429);
    for (let asked = 0; asked < 30; asked++) {
      expect((await fetch(`${url}/healthz`, { headers })).status).toBe(200);
    }
  }
});

test('without PostgreSQL and NATS every process is alive, and reports that it is not ready', async () => {
  await stack.parts.nats.kill();
  await stack.parts.postgres.kill();
  const getStatus = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(4_000) })).status;
  for (const url of [...surfaces(), ...stack.executorUrls]) {
    await waitUntil(async () => (await getStatus(`${url}/health`)) === 503, { everyMs: 100 });
    expect(await getStatus(`${url}/healthz`)).toBe(200);
  }
});
