/** Identifies a tab of a browser. `randomUUID` is missing where the page was loaded without TLS. */
export const newTabId = (): string => crypto.getRandomValues(new Uint32Array(2)).join('-');
