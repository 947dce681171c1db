/** For a POSIX shell, whatever the text holds. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
