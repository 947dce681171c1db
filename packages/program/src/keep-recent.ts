import { LRUCache } from 'lru-cache';

/**
 * Creates an LRU cache of `max` immutable values that are expensive to create.
 * @returns the cached value, or the result of `create`; failures are not cached
 */
export function keepRecent<Value extends object>(max: number) {
  const kept = new LRUCache<string, Value>({ max });
  return async (key: string, make: () => Promise<Value>): Promise<Value> => {
    const value = kept.get(key) ?? (await make());
    kept.set(key, value);
    return value;
  };
}
