/** Email, where the operator configured a server for it. */
import type { Transporter } from 'nodemailer';
import type { Logger } from 'pino';

export interface EmailMessage {
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** False where no server is configured: links are then shown instead of sent. */
  isConfigured: boolean;
  /** False if it could not be sent; the log says why. Never throws: what the message is about has been committed. */
  send(message: EmailMessage): Promise<boolean>;
  /** For callers that keep their own record of failures. @throws MailError */
  deliver(message: EmailMessage): Promise<void>;
  close(): void;
}

/** `message` may be shown to the person who wrote the address; `cause` is for the log. */
export class MailError extends Error {}

export const NOT_CONFIGURED_MESSAGE = 'email is not configured on this installation; the operator must set SMTP_URL';

const TIMEOUT_MS = 10_000;

export function createMailer(options: { smtpUrl: string | undefined; from: string; log: Logger }): Mailer {
  const { smtpUrl, from, log } = options;
  if (!smtpUrl) {
    const deliver = async () => {
      throw new MailError(NOT_CONFIGURED_MESSAGE);
    };
    return { isConfigured: false, send: async () => false, deliver, close: () => {} };
  }
  let transport: Promise<Transporter> | undefined;
  /** Loads nodemailer with the first message, so that no start waits for it. */
  const openTransport = async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      url: smtpUrl,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // A message is made of our own text alone: nothing in it may name a file or an address to be fetched.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };
  const deliver = async ({ to, subject, text }: EmailMessage) => {
    try {
      transport ??= openTransport().catch((err) => {
        transport = undefined;
        throw err;
      });
      // An address object is never parsed, so that a comma in it makes no second recipient.
      await (await transport).sendMail({ from, to: { name: '', address: to }, subject: toSingleLine(subject), text });
    } catch (err) {
      throw new MailError(formatSmtpError(err as SmtpError), { cause: err });
    }
  };
  return {
    isConfigured: true,
    send: async (message) => {
      try {
        await deliver(message);
        return true;
      } catch (err) {
        log.warn({ err, subject: toSingleLine(message.subject) }, 'failed to send email');
        return false;
      }
    },
    deliver,
    close: () =>
      void transport?.then(
        (opened) => opened.close(),
        () => {},
      ),
  };
}

interface SmtpError {
  /** The server's own words. */
  response?: string;
  code?: string;
}

/** The server's own words; without any, the error code and no address. */
function formatSmtpError({ response, code }: SmtpError): string {
  if (response) return `the mail server responded: ${toSingleLine(response)}`;
  return `the mail server can't be reached${code ? ` (${code})` : ''}`;
}

const toSingleLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, 200);
