/** Controls, marks that turn the direction of writing, and characters without a shape, by which text is written for machines alone. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;
const LINE_OR_TAB = /[\n\t]/;
/** They come after an emoji and belong to its drawing. */
const JOINS_EMOJI = /[\u200d\ufe0f]/;
const EMOJI_BEFORE = /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)$/u;

/** Writes out each character that cannot be seen; lines stay lines. @param write by its place in the text */
export const writeHidden = (text: string, write: (hidden: string, at: number) => string): string =>
  text.replace(HIDDEN, (hidden, at: number) => (LINE_OR_TAB.test(hidden) ? hidden : write(hidden, at)));

/** Text of a stranger in which everything that cannot be seen is named: `‹U+202E›`. */
export const revealed = (text: string): string =>
  writeHidden(text, (hidden, at) => {
    const isSeen = JOINS_EMOJI.test(hidden) && EMOJI_BEFORE.test(text.slice(Math.max(0, at - 2), at));
    return isSeen ? hidden : `‹U+${codeOf(hidden)}›`;
  });

const codeOf = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
