/** E-mail, where the operator configured a server for it. */
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';

export interface Message {
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** False where no server is configured: links are then shown instead of sent. */
  isConfigured: boolean;
  /** False if it could not be sent; the log says why. Never throws: what the message is about has been committed. */
  send(message: Message): Promise<boolean>;
  close(): void;
}

const TIMEOUT_MS = 10_000;

export function createMailer(options: { smtpUrl: string | undefined; from: string; log: Logger }): Mailer {
  const { smtpUrl, from, log } = options;
  if (!smtpUrl) return { isConfigured: false, send: async () => false, close: () => {} };
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // A message is made of our own text alone: nothing in it may name a file or an address to be fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    isConfigured: true,
    send: async ({ to, subject, text }) => {
      try {
        // An address object is never parsed, so that a comma in it makes no second recipient.
        await transport.sendMail({ from, to: { name: '', address: to }, subject: oneLine(subject), text });
        return true;
      } catch (err) {
        log.warn({ err, subject: oneLine(subject) }, 'e-mail not sent');
        return false;
      }
    },
    close: () => transport.close(),
  };
}

const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, 200);
