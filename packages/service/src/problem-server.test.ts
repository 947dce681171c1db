import { waitUntilReady } from '@gantry/env';
import { captureLogs, reserveFreePort, waitUntil } from '@gantry/testing';
import { createProblemServer } from './problem-server';

test.each(['127.0.0.1', '::'])(
  'on %s a service that cannot start is alive and reports why, until it can',
  async (host) => {
    const port = await reserveFreePort();
    const { log, lines } = captureLogs();
    const get = async (path: string) => {
      const answer = await fetch(`http://${host === '::' ? '[::1]' : host}:${port}${path}`);
      return { status: answer.status, body: await answer.json() };
    };
    let problems = ['NATS runs without JetStream'];
    const usable = waitUntilReady([async () => problems], createProblemServer({ host, port, log }));
    await waitUntil(() => get('/health').catch(() => false));
    expect(await get('/health')).toEqual({
      status: 503,
      body: { status: 'starting', problems: ['NATS runs without JetStream'] },
    });
    expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    await expect(get('/api/workers')).rejects.toThrow();
    problems = [];
    await usable;
    await expect(get('/healthz')).rejects.toThrow();
    expect(lines.map(({ msg }) => msg)).toEqual([
      'not ready: NATS runs without JetStream',
      'all problems have been resolved',
    ]);
  },
);

test('without problems, nothing is reported', async () => {
  const told = jest.fn();
  await waitUntilReady([async () => []], told);
  expect(told).not.toHaveBeenCalled();
});
