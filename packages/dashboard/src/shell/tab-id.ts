/** Identifies a tab of a browser. `randomUUID` is missing where the page was loaded without TLS. */
export const createTabId = (): string => crypto.getRandomValues(new Uint32Array(2)).join('-');
