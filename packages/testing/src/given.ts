/** Things that the tests of a file, or of a `describe`, start from. */

const ends: (() => unknown)[] = [];

/**
 * Makes something before the tests, in the order of the calls, and ends it after them, the last first.
 * @param timeoutMs of making it; absent: that of a test
 * @returns it, to be read once the tests have begun
 */
export function setupResource<T extends object>(
  create: () => T | Promise<T>,
  end?: (made: T) => unknown,
  timeoutMs?: number,
): T {
  let made: T | undefined;
  let place: number | undefined;
  beforeAll(async () => {
    const ready = await create();
    made = ready;
    place = ends.push(() => end?.(ready)) - 1;
  }, timeoutMs);
  afterAll(async () => {
    // Whatever was made later may need this one.
    if (place !== undefined) for (const last of ends.splice(place).reverse()) await last();
  });
  const it = (): T => {
    if (made) return made;
    throw new Error('this is given to the tests: it is not there before they begin');
  };
  return new Proxy({} as T, {
    get: (_target, key) => Reflect.get(it(), key),
    set: (_target, key, value) => Reflect.set(it(), key, value),
    has: (_target, key) => Reflect.has(it(), key),
    ownKeys: () => Reflect.ownKeys(it()),
    getPrototypeOf: () => Reflect.getPrototypeOf(it()),
    getOwnPropertyDescriptor: (_target, key) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(it(), key);
      // The target has no such member, and a proxy may not say that it has one for good.
      return descriptor && { ...descriptor, configurable: true };
    },
  });
}
