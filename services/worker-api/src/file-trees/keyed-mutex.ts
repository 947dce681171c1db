export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Works with the same key go on one after the other in this process; it says nothing about other replicas. */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work);
    const done = mine.catch(() => {});
    last.set(key, done);
    try {
      return await mine;
    } finally {
      if (last.get(key) === done) last.delete(key);
    }
  };
}
