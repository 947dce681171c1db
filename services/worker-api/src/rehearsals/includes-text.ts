/**
 * Whether a text contains another, in time linear in both (Knuth, Morris, Pratt). `String.includes` takes the product of their
 * lengths for texts that repeat themselves.
 */
export function includesText(text: string, part: string): boolean {
  if (part === '') return true;
  const borders = new Int32Array(part.length);
  const advance = (matched: number, code: number): number => {
    let length = matched;
    while (length > 0 && part.charCodeAt(length) !== code) length = borders[length - 1] as number;
    return part.charCodeAt(length) === code ? length + 1 : 0;
  };
  for (let at = 1; at < part.length; at++) borders[at] = advance(borders[at - 1] as number, part.charCodeAt(at));
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    matched = advance(matched, text.charCodeAt(at));
    if (matched === part.length) return true;
  }
  return false;
}
