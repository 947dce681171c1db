/**
 * Where answers go. Nobody may publish into another's inbox; who may answer is in the subject, so that the server enforces it.
 *
 *   _INBOX.<user>.>                what the server itself answers, and brings from another account: no user may publish there
 *   answer.<service>.<user>.>      what a service answers to a user of its own account: that service alone may publish there
 *   _R_.>                          made by the server for each question that comes from another account
 */
import type { Service } from './catalogue';

export const inboxPrefixOf = (user: string): string => `_INBOX.${user}`;

export const answerSubject = (answerer: Service | '*', asker: string, rest: string): string =>
  `answer.${answerer}.${asker}.${rest}`;

/** Questions across accounts: a name of the server's own, 64 random bits long, that lasts until it is answered. */
export const ANSWERS_ACROSS = '_R_.>';
