/** Tells OAuth client ids apart: the URL of a metadata document, or an id that was issued at registration. */

export const isDocumentUrl = (clientId: string): boolean => /^https?:\/\//.test(clientId);

/**
 * Returns the host of the metadata document, which identifies the client; one that registered itself has proven
 * nothing.
 * @returns null for the latter
 */
export const findClientHost = (clientId: string): string | null =>
  isDocumentUrl(clientId) ? new URL(clientId).host : null;
