/** Tells OAuth client ids apart: the URL of a metadata document, or an id that was issued at registration. */

export const isDocument = (clientId: string): boolean => /^https?:\/\//.test(clientId);

/**
 * Returns the host of the metadata document, which identifies the client; one that registered itself has proven
 * nothing.
 * @returns null for the latter
 */
export const getClientHost = (clientId: string): string | null =>
  isDocument(clientId) ? new URL(clientId).host : null;
