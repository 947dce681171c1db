import { getTags, parseBody, toSkillMd } from './front-matter';

test('known fields of the format are read, the rest is the text', () => {
  const parsed = parseBody(
    '---\nname: a-b\ndescription: >\n  Two\n  lines.\nallowed-tools: [Bash, Read]\nmetadata: { tags: "x, y", version: 2 }\n---\nText\n',
  );
  expect(parsed).toEqual({
    frontMatter: {
      name: 'a-b',
      description: 'Two lines.',
      'allowed-tools': 'Bash Read',
      metadata: { tags: 'x, y', version: '2' },
    },
    text: 'Text\n',
    ignored: [],
  });
  expect(getTags(parsed.frontMatter)).toEqual(['x', 'y']);
});

test.each([
  ['no front matter', 'Text', 0],
  ['a rule at the top', '---\n\nText\n\n---\nMore', 1],
  ['never closed', '---\nname: x\nText', 1],
  ['empty', '---\n---\nText', 1],
  ['a list', '---\n- a\n---\nText', 1],
  ['broken YAML', '---\na: b: c\n---\nText', 1],
  ['nested lists', `---\n${'- '.repeat(3_000)}\n---\nText`, 1],
  ['nested keys', `---\n${'? '.repeat(3_000)}\n---\nText`, 1],
  ['nested flow maps', `---\n${'{a: '.repeat(3_000)}\n---\nText`, 1],
  ['a map as a key', '---\n? {a: b}\n: c\n---\nText', 1],
  ['anchors that multiply', '---\na: &a [x]\nname: *a\n---\nText', 1],
  ['a name that is a map', '---\nname: {a: b}\n---\nText', 1],
  ['a description of 1025 characters', `---\ndescription: ${'x'.repeat(1_025)}\n---\nText`, 1],
  ['keys that pollute prototypes', '---\n__proto__: {x: 1}\nmetadata: {__proto__: y}\n---\nText', 1],
])('%s is still a document, and reports what was ignored', (_what, body, ignoredMin) => {
  const parsed = parseBody(body);
  expect(parsed.text).toContain('Text');
  expect(parsed.ignored.length).toBeGreaterThanOrEqual(ignoredMin);
  expect(({} as { x?: unknown }).x).toBeUndefined();
});

test('Windows line ends and a byte order mark make no difference', () => {
  expect(parseBody('\uFEFF---\r\nname: a-b\r\n---\r\nText').frontMatter).toEqual({ name: 'a-b' });
});

test('SKILL.md is the body if that is complete, else gets a name and a description', () => {
  const skill = { slug: 'a-b', title: 'A: "B"', description: '', license: null };
  const complete = '---\nname: a-b\ndescription: Does it.\nextra: kept\n---\nText';
  expect(toSkillMd(skill, complete)).toBe(complete);
  const made = toSkillMd(skill, '---\nname: other\nlicense: MIT\n---\n\nText');
  expect(parseBody(made)).toEqual({
    frontMatter: { name: 'a-b', description: 'A: "B"', license: 'MIT' },
    text: '\nText',
    ignored: [],
  });
});
