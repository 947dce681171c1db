/** An OAuth client's id: the address of a document about it, or a name that it was given when it registered. */

export const isDocument = (clientId: string): boolean => /^https?:\/\//.test(clientId);

/**
 * The host of a metadata document is who the client is; one that registered itself has proven nothing.
 * @returns null for the latter
 */
export const getClientHost = (clientId: string): string | null =>
  isDocument(clientId) ? new URL(clientId).host : null;
