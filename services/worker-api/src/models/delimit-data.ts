/** Texts of others, as a model reads them. */

/**
 * Marks a text as data. The author of a text does not know the id of the call that will read it, so none can end the
 * data early.
 * @param callId new for each text
 */
export const delimitData = (callId: string, text: string): string =>
  `<data id="${callId}">\n${text}\n</data id="${callId}">`;
