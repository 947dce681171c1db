/**
 * Keeps the `max` values that were used last, for what never changes and costs something to make.
 * @returns the kept value, or what `make` makes; a value that can't be made is not kept
 */
export function keepRecent<Value>(max: number): (key: string, make: () => Promise<Value>) => Promise<Value> {
  const kept = new Map<string, Value>();
  return async (key, make) => {
    const value = kept.get(key) ?? (await make());
    // A Map remembers the order of insertion: what was used longest ago goes first.
    kept.delete(key);
    kept.set(key, value);
    if (kept.size > max) kept.delete(kept.keys().next().value as string);
    return value;
  };
}
