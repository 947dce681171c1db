const SUGGESTED_NAMES_MAX = 5;
/** Models and code write names, which may be as long as what they say. */
const NAME_CHARS_MAX = 200;
const WORDS_MAX = 20;

/** The end of a sentence that says that a name is not there: names that share a word with it, or the first that there are. */
export function formatNameSuggestions(name: string, names: string[]): string {
  const words = name
    .slice(0, NAME_CHARS_MAX)
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2)
    .slice(0, WORDS_MAX);
  // Bounded: WORDS_MAX words, measured as 'nearest'.
  const near = names
    .filter((one) => words.some((word) => one.toLowerCase().includes(word)))
    .slice(0, SUGGESTED_NAMES_MAX);
  const shown = near.length ? near : names.slice(0, SUGGESTED_NAMES_MAX);
  return shown.length
    ? `; ${near.length ? 'similar:' : 'available:'} ${shown.map((one) => one.slice(0, NAME_CHARS_MAX)).join(', ')}`
    : '';
}
