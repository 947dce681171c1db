/**
 * Words of a model, reported while they come: as pieces of the answer's step, masked as one stream. The service sends them
 * live, and some may be lost; the whole answer makes up for them.
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
  /** As the service has told it. */
  received: string;
  masked: RedactedStream;
  decoder: StringDecoder;
  /** Number of characters that are told. */
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
    /** Words out of their order wait for the whole answer. */
    words({ ordinal, from, text }: Pick<ToolWords, 'ordinal' | 'from' | 'text'>) {
      if (answer?.step !== ordinal || from > answer.received.length || from + text.length > STEP_BYTES_MAX) return;
      const more = text.slice(answer.received.length - from);
      if (more && livePiecesLeft-- > 0) hear(answer, more);
    },
    /** The call is over. An answer that is not what was told so far is told anew, from its beginning. */
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

/** Null: there is none. */
function wholeTextOf(reply: ToolAnswer): string | null {
  if (!('result' in reply) || typeof reply.result !== 'object' || reply.result === null) return null;
  const { text } = reply.result as { text?: unknown };
  return typeof text === 'string' ? text : null;
}
