/** A real SMTP server that keeps what it is given. */
import type { AddressInfo } from 'node:net';
import { setupResource, waitUntil } from '@gantry/testing';
import { SMTPServer } from 'smtp-server';

export interface MailCatcher {
  url: string;
  /** Recipients of the messages, in order. */
  recipients: string[];
  /** The newest message to that address, decoded; waits for one to come. */
  messageTo(address: string): Promise<string>;
  close(): Promise<void>;
}

export async function startMailCatcher(): Promise<MailCatcher> {
  const caught: { to: string; text: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const text = decodeQuotedPrintable(Buffer.concat(chunks).toString());
        for (const { address } of session.envelope.rcptTo) caught.push({ to: address, text });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    get recipients() {
      return caught.map(({ to }) => to);
    },
    messageTo: async (address) => {
      const message = await waitUntil(() => caught.findLast(({ to }) => to === address), {
        what: `mail to ${address}`,
      });
      return message.text;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Before the tests of this file or `describe`, and until after them. */
export const setupMail = (): MailCatcher => setupResource(startMailCatcher, (mail) => mail.close());

const decodeQuotedPrintable = (text: string): string =>
  text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** The token behind the `#` of a link. */
export const findToken = (text: string): string => /#((?:inv|rst|vfy)_[0-9A-Za-z]+)/.exec(text)?.[1] ?? '';
