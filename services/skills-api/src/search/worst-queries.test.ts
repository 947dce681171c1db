/** The most expensive search queries, over skills of maximum length: none blocks other requests. */
import { measureLongestTurn, setupResource } from '@gantry/testing';
import { testSkillsApi } from '../test/test-skills-api';

const BLOCKED_MS_MAX = 50;

const api = testSkillsApi();
const ada = setupResource(() => api.person());

/** Nearly the limit for the Markdown of a skill. */
const BYTES = 260_000;
/** The limit for a query. */
const CHARS = 200;
const SKILLS = 20;

const fill = (unit: string, chars: number) => unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);
const TEXTS = ['deploy ', 'deploy-', '<!-- deploy ', Array.from({ length: 40_000 }, (_, at) => `w${at}`).join(' ')];

beforeAll(async () => {
  for (let at = 0; at < SKILLS; at++) {
    const body_md = fill(TEXTS[at % TEXTS.length] as string, BYTES);
    const skill = { title: fill(`Deploy ${at} `, 190), body_md, visibility: 'public' };
    await api.as(ada).post('/api/v1/skills').send(skill).expect(201);
  }
});

const QUERIES: [string, string][] = [
  ['one word', 'deploy'],
  ['as many words as there may be', 'd w de w1 dep w2 depl w3 deplo w4 deploy w5 w6 w7 w8 w9 '],
  ['one long word', 'd'],
  ['a phrase', `"${fill('deploy ', CHARS - 2)}"`],
  ['alternatives', 'deploy or w or '],
  ['exclusions', '-a '],
  ['quotes', '"'],
  ['signs', '(&|!:*<->)'],
  ['marks of matches', '\uE000\uE001'],
  ['letters of many scripts', 'ßİǅﬃ東'],
  ['combined characters', 'a\u0301\u0327'],
  ['characters of two halves', '\u{1F600}'],
  ['misspelt words', 'dpeloy a servcie on kubrenetes and wtach the grpahs '],
];

test.each(QUERIES)('%s', async (_, unit) => {
  const query = encodeURIComponent(unit === 'deploy' ? unit : fill(unit, CHARS));
  for (const path of [`/api/v1/search?limit=200&q=${query}`, `/?q=${query}`]) {
    const search = async () => {
      const response = await fetch(api.url + path);
      await response.text();
      expect([path, response.status]).toEqual([path, 200]);
    };
    await search();
    const blockedMs = await measureLongestTurn(search, BLOCKED_MS_MAX);
    expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
  }
});
