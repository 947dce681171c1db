/**
 * Functions whose cost depends on untrusted text, each with its worst input: none blocks the event loop for longer than
 * 50 ms. Markdown is rendered in a thread. A new function of this kind belongs on the list.
 */
import { measureLongestTurn } from '@gantry/testing';
import { parseBody, toSkillMd } from './skills/front-matter';

const BLOCKED_MS_MAX = 50;
const BLOCK_CHARS = 16_300;

const block = (unit: string, [open, close] = ['', '']) =>
  `---\na: ${open}${unit.repeat(BLOCK_CHARS / unit.length)}${close}\n---\n`;
const SKILL = { slug: 'a-skill', title: 'A skill', description: 'Does it', license: null };

const FUNCTIONS: [string, () => unknown][] = [
  ['parseBody: tags', () => parseBody(block('!!binary '))],
  ['parseBody: short tags', () => parseBody(block('! '))],
  ['parseBody: anchors', () => parseBody(block('&a '))],
  ['parseBody: numbers', () => parseBody(block('0,', ['[', '0]']))],
  ['parseBody: timestamps', () => parseBody(block('\n- 2020-01-01T00:00:00Z'))],
  ['parseBody: empty lists', () => parseBody(block('[],', ['[', '0]']))],
  ['parseBody: lists in lists', () => parseBody(block('\n- - - - a'))],
  ['parseBody: keys', () => parseBody(`---\n${Array.from({ length: 2_000 }, (_, at) => `k${at}: 1\n`).join('')}---\n`)],
  ['parseBody: values that are none', () => parseBody(block('\n- `a'))],
  ['parseBody: unknown escapes', () => parseBody(block('"\\q",', ['[', '0]']))],
  ['parseBody: no end', () => parseBody(`---\n${'---\r'.repeat(200_000)}`)],
  ['toSkillMd: blank lines', () => toSkillMd(SKILL, `${' \n'.repeat(250_000)}x`)],
  ['toSkillMd: blanks', () => toSkillMd(SKILL, `${' '.repeat(500_000)}x`)],
];

test.each(FUNCTIONS)('%s', async (_, work) => {
  // Warm-up: compilation and module loading do not count.
  await work();
  const blockedMs = await measureLongestTurn(work, BLOCKED_MS_MAX);
  expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
});
