/**
 * Levels of lists and objects, where a value that is neither is the last one. Without recursion: what is measured may be as deep as
 * an answer is long.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((part) => (typeof part === 'object' && part !== null ? Object.values(part) : []));
  }
  return false;
}
