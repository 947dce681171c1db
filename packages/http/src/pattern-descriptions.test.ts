import { readFileSync } from 'node:fs';
import { formatProblem } from '@gantry/errors';
import { openapiFiles } from '@gantry/openapi';

/** Lists the patterns of requests: path, query, headers and bodies with their referenced schemas. */
function listPatterns(file: string): string[] {
  const document = JSON.parse(readFileSync(file, 'utf8'));
  const { responses: _unread, ...components } = document.components;
  const found = new Set<string>();
  JSON.stringify({ paths: document.paths, components }, (key, value) => {
    if (key === 'responses') return undefined;
    if (key === 'pattern' && typeof value === 'string') found.add(value);
    return value;
  });
  return [...found];
}

test.each(Object.entries(openapiFiles))('every pattern of the %s surface has a description', (_surface, file) => {
  const patterns = listPatterns(file);
  expect(patterns.length).toBeGreaterThan(2);
  const formatPattern = (pattern: string) => formatProblem({ keyword: 'pattern', params: { pattern } });
  // This one occurs in responses only.
  const undescribed = patterns.filter((pattern) => /match/.test(formatPattern(pattern)) && pattern !== '^whsec_');
  expect(undescribed).toEqual([]);
});
