/** Replaces a lone half of a character by U+FFFD. */
export const toWellFormed = (text: string): string => Buffer.from(text).toString();
