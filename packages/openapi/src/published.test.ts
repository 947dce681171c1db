/** Tests the statuses and headers that the published documents declare for every operation. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { publishedFiles } from './index';

interface Answer {
  $ref?: string;
  headers?: Record<string, unknown>;
}
interface Operation {
  operationId: string;
  'x-access': string;
  'x-errors'?: 'oauth';
  /** Empty: no credential. Absent: as the document says. */
  security?: object[];
  requestBody?: unknown;
  responses: Record<string, Answer>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Answer> };
}

function listOperations({ paths }: Document): [string, Operation][] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).flatMap((one) => (one.operationId ? [[path, one] as [string, Operation]] : [])),
  );
}

test.each(Object.entries(publishedFiles))(
  'every operation of the %s surface documents its responses',
  (_name, file) => {
    const document: Document = JSON.parse(readFileSync(file, 'utf8'));
    const listHeaders = ({ $ref, headers = {} }: Answer = {}): string[] =>
      Object.keys($ref ? (document.components.responses[$ref.split('/').at(-1) ?? '']?.headers ?? {}) : headers);
    const operations = listOperations(document);
    expect(operations.length).toBeGreaterThan(20);
    for (const [path, { operationId, requestBody, responses, ...operation }] of operations) {
      if (!responses.default) continue;
      const expected = ['400', '429', '503'];
      const isPublic = operation['x-access'] === 'public';
      if (!isPublic) expected.push('401', '403');
      expect([operationId, operation.security?.length !== 0]).toEqual([operationId, !isPublic]);
      if (path.includes('{')) expected.push('404');
      if (requestBody) expected.push('413', '415');
      const documented = Object.keys(responses);
      expect([operationId, expected.filter((status) => !documented.includes(status))]).toEqual([operationId, []]);
      for (const answer of Object.values(responses)) {
        expect(listHeaders(answer)).toEqual(expect.arrayContaining(['X-Request-Id', 'RateLimit-Remaining']));
      }
      expect(listHeaders(responses['429'])).toContain('Retry-After');
    }
  },
);

test('an operation with errors of OAuth documents them for every status that it can respond with', () => {
  const document: Document = JSON.parse(readFileSync(publishedFiles.worker, 'utf8'));
  for (const [path, { responses, ...operation }] of listOperations(document)) {
    const isOauth = operation['x-errors'] === 'oauth';
    const names = Object.entries(responses).flatMap(([status, { $ref }]) =>
      /^[45]/.test(status) ? [$ref?.split('/').at(-1) ?? ''] : [],
    );
    const shapes = names.filter((name) => /^(Oauth)?Status/.test(name)).map((name) => name.startsWith('Oauth'));
    expect([path, new Set(shapes)]).toEqual([path, new Set(shapes.length ? [isOauth] : [])]);
  }
});

test.each(Object.entries(publishedFiles))(
  'the document of the %s surface is the same as JSON and YAML',
  (_name, file) => {
    const yaml = parse(readFileSync(file.replace(/\.json$/, '.yaml'), 'utf8'));
    expect(yaml).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  },
);
