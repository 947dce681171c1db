/**
 * Returns whether lists and objects, with a scalar as the last level, are nested deeper than `levels`. Without
 * recursion: the value may be nested as deeply as a response is long.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((part) => (typeof part === 'object' && part !== null ? Object.values(part) : []));
  }
  return false;
}
