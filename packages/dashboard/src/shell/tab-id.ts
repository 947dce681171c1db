/** Tells the tabs of a browser apart. `randomUUID` is missing where the page came without TLS. */
export const newTabId = (): string => crypto.getRandomValues(new Uint32Array(2)).join('-');
