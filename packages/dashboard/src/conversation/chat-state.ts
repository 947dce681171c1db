/** State that pages of the dashboard hand to the chat. A link on another site cannot set it. */
export interface ChatState {
  /** A message, to be sent by the person. */
  draft?: string;
  /** The person has sent the draft where they come from. */
  isSent?: boolean;
  /** The conversation was begun on the page before. */
  isBegun?: boolean;
}
