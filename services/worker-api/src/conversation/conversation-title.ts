const TITLE_CHARS_MAX = 80;

/** Shortens the first message of a conversation to its title. */
export function toConversationTitle(message: string): string {
  const line = message
    .replace(/\s+/gu, ' ')
    .replace(/\p{Cc}/gu, '')
    .trim();
  const letters = [...line];
  const title = letters.length > TITLE_CHARS_MAX ? `${letters.slice(0, TITLE_CHARS_MAX - 1).join('')}…` : line;
  return title || 'Conversation';
}
