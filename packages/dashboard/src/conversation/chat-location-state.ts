/** State that pages of the dashboard hand to the chat. A link on another site cannot set it. */
export interface ChatLocationState {
  /** A message for the member to send. */
  draft?: string;
  /** The draft was already sent on the page before. */
  isSent?: boolean;
  /** The conversation was begun on the page before. */
  isBegun?: boolean;
}
