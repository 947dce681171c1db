import { appendRandomSuffix, deriveSlug, SLUG } from './slug';

test.each([
  ['Review a change', 'review-a-change'],
  ['Ärger mit Übermaß & Öl', 'arger-mit-ubermass-ol'],
  ['  --C++ / Rust!--  ', 'c-rust'],
  ['Go', 'go-skill'],
  ['API', 'api-skill'],
  ['New', 'new-skill'],
  ['constructor', 'constructor-skill'],
  ['ﬁne ①', 'fine-1'],
])('%j becomes %s', (title, slug) => {
  expect(deriveSlug(title, 'skill')).toBe(slug);
});

test.each([
  '🎉🎉🎉',
  'مرحبا بالعالم',
  '日本語のスキル',
  '​',
  '---',
  'a'.repeat(200),
  `${'word '.repeat(40)}`,
  '__proto__',
  '../../etc/passwd',
  '<script>',
  'ß',
  '%2e%2e',
])('%j gets a valid slug, with and without a suffix', (title) => {
  const slug = deriveSlug(title, 'skill');
  expect(slug).toMatch(SLUG);
  expect(appendRandomSuffix(slug)).toMatch(SLUG);
  expect(appendRandomSuffix(slug)).not.toBe(appendRandomSuffix(slug));
});
