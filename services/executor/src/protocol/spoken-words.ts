/**
 * Emits text of a model as it arrives: as pieces of the response's step, masked as one stream. The service sends it
 * live, and parts may be lost; the full response fills them in.
 */
import { StringDecoder } from 'node:string_decoder';
import { AGENT_TEXT_CHARS_MAX, STEP_BYTES_MAX, type ToolWords } from '@gantry/events';
import type { RedactedStream, Redactor } from '@gantry/masking';
import { printable } from '../masking/log-lines';
import type { NewRunEvent } from './event-publisher';
import type { ToolAnswer } from './tool-calls';

/** Limits for an attempt: pieces that are sent live, and characters in all. */
const LIVE_PIECES_MAX = 2_000;
const CHARS_MAX = 1 << 20;

interface Answer {
  step: number;
  /** The text received from the service. */
  received: string;
  masked: RedactedStream;
  decoder: StringDecoder;
  /** Number of emitted characters. */
  told: number;
}

export type SpokenWords = ReturnType<typeof createSpokenWords>;

export function createSpokenWords({ redactor, emit }: { redactor: Redactor; emit(event: NewRunEvent): void }) {
  let answer: Answer | undefined;
  let livePiecesLeft = LIVE_PIECES_MAX;
  let charsLeft = CHARS_MAX;

  const begin = (step: number): Answer => {
    answer = { step, received: '', masked: redactor.stream(), decoder: new StringDecoder('utf8'), told: 0 };
    return answer;
  };

  function tell(to: Answer, bytes: Buffer) {
    let text = printable(to.decoder.write(bytes)).slice(0, charsLeft);
    charsLeft -= text.length;
    while (text) {
      const piece = text.slice(0, AGENT_TEXT_CHARS_MAX);
      emit({ type: 'agent', part: 'text', name: null, text: piece, piece: { step: to.step, offset: to.told } });
      to.told += piece.length;
      text = text.slice(piece.length);
    }
  }

  function hear(to: Answer, text: string) {
    to.received += text;
    tell(to, to.masked.push(Buffer.from(text)));
  }

  return {
    begin: (step: number) => void begin(step),
    /** Appends text; text out of order waits for the full response. */
    words({ ordinal, from, text }: Pick<ToolWords, 'ordinal' | 'from' | 'text'>) {
      if (answer?.step !== ordinal || from > answer.received.length || from + text.length > STEP_BYTES_MAX) return;
      const more = text.slice(answer.received.length - from);
      if (more && livePiecesLeft-- > 0) hear(answer, more);
    },
    /** Ends the call. A response that differs from the received text is emitted anew, from its beginning. */
    end(reply: ToolAnswer) {
      if (!answer) return;
      const whole = wholeTextOf(reply);
      if (whole !== null) {
        if (!whole.startsWith(answer.received)) begin(answer.step);
        hear(answer, whole.slice(answer.received.length));
      }
      tell(answer, answer.masked.end());
      answer = undefined;
    },
  };
}

/** Returns the text of a response; null if there is none. */
function wholeTextOf(reply: ToolAnswer): string | null {
  if (!('result' in reply) || typeof reply.result !== 'object' || reply.result === null) return null;
  const { text } = reply.result as { text?: unknown };
  return typeof text === 'string' ? text : null;
}
