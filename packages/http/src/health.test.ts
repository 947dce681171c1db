import { createHealth, type Health } from './health';

const getReadiness = async (health: Health) => {
  const { status, body } = await health.operations.ready();
  return { status, body };
};

test('readiness names the dependency that is down and recovers by itself', async () => {
  let up = false;
  const health = createHealth({
    postgres: async () => up || Promise.reject(new Error('down')),
    nats: async () => true,
  });
  expect(await getReadiness(health)).toEqual({ status: 503, body: { status: 'unavailable', down: ['postgres'] } });
  up = true;
  expect(await getReadiness(health)).toEqual({ status: 200, body: { status: 'ok' } });
});

test('a degrading dependency is named and does not end readiness', async () => {
  let isPostgresUp = true;
  const checks = {
    postgres: async () => isPostgresUp || Promise.reject(new Error('down')),
    nats: () => Promise.reject(new Error('down')),
  };
  const health = createHealth(checks, { optionalDependencies: ['nats'] });
  expect(await getReadiness(health)).toEqual({ status: 200, body: { status: 'degraded', down: ['nats'] } });
  isPostgresUp = false;
  expect(await getReadiness(health)).toEqual({
    status: 503,
    body: { status: 'unavailable', down: ['postgres', 'nats'] },
  });
});

test('a problem of a working dependency is reported without ending readiness', async () => {
  const health = createHealth({ postgres: async () => 'the clock of PostgreSQL is 300 s behind' });
  expect(await getReadiness(health)).toEqual({
    status: 200,
    body: { status: 'ok', problems: ['the clock of PostgreSQL is 300 s behind'] },
  });
});

test('a draining service is unavailable although everything is up', async () => {
  const health = createHealth({});
  health.drain();
  expect(await getReadiness(health)).toEqual({ status: 503, body: { status: 'draining' } });
});
