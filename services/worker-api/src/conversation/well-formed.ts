/** Replaces unpaired surrogates by U+FFFD. */
export const toWellFormed = (text: string): string => Buffer.from(text).toString();
