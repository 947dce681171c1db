/**
 * LRU cache of `max` immutable values that are expensive to create.
 * @returns the cached value, or the result of `make`; failures are not cached
 */
export function keepRecent<Value>(max: number): (key: string, make: () => Promise<Value>) => Promise<Value> {
  const kept = new Map<string, Value>();
  return async (key, make) => {
    const value = kept.get(key) ?? (await make());
    // A Map keeps insertion order: the least recently used entry is evicted first.
    kept.delete(key);
    kept.set(key, value);
    if (kept.size > max) kept.delete(kept.keys().next().value as string);
    return value;
  };
}
