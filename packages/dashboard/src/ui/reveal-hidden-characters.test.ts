import { revealHiddenCharacters } from './reveal-hidden-characters';

test.each([
  ['turned\u202egnitirw', 'turned‹U+202E›gnitirw'],
  ['tags\u{e0041}', 'tags‹U+E0041›'],
  ['zero\u200bwidth\u200d', 'zero‹U+200B›width‹U+200D›'],
  ['a\ufe01b\u{e0100}', 'a‹U+FE01›b‹U+E0100›'],
  ['bell\u0007 and \ud800', 'bell‹U+0007› and ‹U+D800›'],
  ['filler\u3164\u00ad', 'filler‹U+3164›‹U+00AD›'],
])('invisible characters in %j are named', (text, expected) => {
  expect(revealHiddenCharacters(text)).toBe(expected);
});

test.each(['lines\nand\ttabs', 'naïve 文字 العربية', '⚠️ 👩‍💻 👍🏽'])('%j stays unchanged', (text) => {
  expect(revealHiddenCharacters(text)).toBe(text);
});
