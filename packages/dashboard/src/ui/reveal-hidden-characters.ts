/** Controls, bidirectional marks, and invisible characters, which can hide text from readers. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;
const LINE_OR_TAB = /[\n\t]/;
/** Joiners that follow an emoji and belong to it. */
const EMOJI_JOINER = /[\u200d\ufe0f]/;
const EMOJI_BEFORE = /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)$/u;

/** Replaces each invisible character; line breaks stay. @param replace receives the character and its offset */
export const replaceHiddenCharacters = (text: string, replace: (hidden: string, at: number) => string): string =>
  text.replace(HIDDEN, (hidden, at: number) => (LINE_OR_TAB.test(hidden) ? hidden : replace(hidden, at)));

/** Makes invisible characters of untrusted text visible: `‹U+202E›`. */
export const revealHiddenCharacters = (text: string): string =>
  replaceHiddenCharacters(text, (hidden, at) => {
    const isEmojiPart = EMOJI_JOINER.test(hidden) && EMOJI_BEFORE.test(text.slice(Math.max(0, at - 2), at));
    return isEmojiPart ? hidden : `‹U+${formatCodePoint(hidden)}›`;
  });

const formatCodePoint = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
