import { LRUCache } from 'lru-cache';

/**
 * Creates an LRU cache of `max` immutable values that are expensive to create.
 * @returns the cached value, or the result of `create`; failures are not cached
 */
export function createLruCache<Value extends object>(max: number) {
  const cache = new LRUCache<string, Value>({ max });
  return async (key: string, create: () => Promise<Value>): Promise<Value> => {
    const value = cache.get(key) ?? (await create());
    cache.set(key, value);
    return value;
  };
}
