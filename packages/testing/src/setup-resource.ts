/** Things that the tests of a file, or of a `describe`, start from. */

const teardowns: (() => unknown)[] = [];

/**
 * Makes something before the tests, in the order of the calls, and ends it after them, the last first.
 * @returns it, to be read once the tests have begun
 */
export function setupResource<T extends object>(create: () => T | Promise<T>, teardown?: (made: T) => unknown): T {
  let made: T | undefined;
  let place: number | undefined;
  beforeAll(async () => {
    const ready = await create();
    made = ready;
    place = teardowns.push(() => teardown?.(ready)) - 1;
  });
  afterAll(async () => {
    // Whatever was made later may need this one.
    if (place !== undefined) for (const last of teardowns.splice(place).reverse()) await last();
  });
  const getResource = (): T => {
    if (made) return made;
    throw new Error('this is given to the tests: it is not there before they begin');
  };
  return new Proxy({} as T, {
    get: (_target, key) => Reflect.get(getResource(), key),
    set: (_target, key, value) => Reflect.set(getResource(), key, value),
    has: (_target, key) => Reflect.has(getResource(), key),
    ownKeys: () => Reflect.ownKeys(getResource()),
    getPrototypeOf: () => Reflect.getPrototypeOf(getResource()),
    getOwnPropertyDescriptor: (_target, key) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(getResource(), key);
      // The target has no such member, and a proxy may not say that it has one for good.
      return descriptor && { ...descriptor, configurable: true };
    },
  });
}
