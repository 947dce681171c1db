/** What the published documents say of every operation: which statuses it answers, and with which headers. */
import { readFileSync } from 'node:fs';
import { publishedFiles } from './index';

interface Answer {
  headers?: Record<string, unknown>;
}
interface Operation {
  operationId: string;
  'x-access': string;
  requestBody?: unknown;
  responses: Record<string, Answer>;
}

function operationsOf(file: string): [string, Operation][] {
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).flatMap((one) => (one.operationId ? [[path, one] as [string, Operation]] : [])),
  );
}

test.each(Object.entries(publishedFiles))(
  'every operation of the %s surface documents what it answers',
  (_name, file) => {
    const operations = operationsOf(file);
    expect(operations.length).toBeGreaterThan(20);
    for (const [path, { operationId, requestBody, responses, ...operation }] of operations) {
      if (!responses.default) continue;
      const expected = ['400', '429', '503'];
      if (operation['x-access'] !== 'public') expected.push('401', '403');
      if (path.includes('{')) expected.push('404');
      if (requestBody) expected.push('413', '415');
      const documented = Object.keys(responses);
      expect([operationId, expected.filter((status) => !documented.includes(status))]).toEqual([operationId, []]);
      for (const { headers = {} } of Object.values(responses)) {
        expect(Object.keys(headers)).toEqual(expect.arrayContaining(['X-Request-Id', 'RateLimit-Remaining']));
      }
      expect(Object.keys(responses['429']?.headers ?? {})).toContain('Retry-After');
    }
  },
);
