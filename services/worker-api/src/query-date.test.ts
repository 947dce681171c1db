import { readOperations } from '@gantry/http';
import { openapiFiles } from '@gantry/openapi';
import request from 'supertest';
import { testWorkerApi } from './test/test-worker-api';

const api = testWorkerApi();

const dateParameters = readOperations(openapiFiles.worker).flatMap(({ id, path, parameters }) =>
  parameters
    .filter((one) => one.in === 'query' && one.schema.format === 'date-time')
    .map(({ name }) => ({ id, name, path: path.replace(/:\w+/g, 'anything') })),
);

test.each(dateParameters)('$id: an invalid date as $name is a 400 before the first byte', async ({ path, name }) => {
  for (const date of ['0000-00-00T00:00:00Z', '0000-01-01T00:00:00Z', '2026-01-05T24:00:00Z', '2016-12-31T23:59:60Z']) {
    const answer = await request(api.url)
      .get(path)
      .query({ [name]: date })
      .set('Authorization', `Bearer ${api.owner.jwt}`);
    expect([date, answer.status, answer.body.errors?.[0].path]).toEqual([date, 400, name]);
  }
});

test.each(['/api/runs/export.csv', '/api/audit-log/export?format=csv'])('%s accepts valid dates', async (path) => {
  const answer = await request(api.url)
    .get(path)
    .query({ since: '0001-01-01T00:00:00Z', until: '9999-12-31T23:59:59Z' })
    .set('Authorization', `Bearer ${api.owner.jwt}`);
  expect([answer.status, answer.type]).toEqual([200, 'text/csv']);
});
