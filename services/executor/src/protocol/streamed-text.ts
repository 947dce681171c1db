/**
 * Emits text of a model as it arrives: as pieces of the response's step, masked as one stream. The service sends it
 * live, and parts may be lost; the full response fills them in.
 */
import { StringDecoder } from 'node:string_decoder';
import { AGENT_TEXT_CHARS_MAX, STEP_BYTES_MAX, type ToolTextChunk } from '@gantry/events';
import type { RedactedStream, Redactor } from '@gantry/masking';
import { replaceNul } from '../masking/log-lines';
import type { NewRunEvent } from './event-publisher';
import type { ToolResult } from './tool-calls';

/** Limits for an attempt: pieces that are sent live, and characters in all. */
const LIVE_PIECES_MAX = 2_000;
const CHARS_MAX = 1 << 20;

interface StreamedResponse {
  step: number;
  /** The text received from the service. */
  received: string;
  masked: RedactedStream;
  decoder: StringDecoder;
  /** Number of emitted characters. */
  emittedChars: number;
}

export type StreamedText = ReturnType<typeof createStreamedText>;

export function createStreamedText({ redactor, emit }: { redactor: Redactor; emit(event: NewRunEvent): void }) {
  let response: StreamedResponse | undefined;
  let livePiecesLeft = LIVE_PIECES_MAX;
  let charsLeft = CHARS_MAX;

  const beginResponse = (step: number): StreamedResponse => {
    response = { step, received: '', masked: redactor.stream(), decoder: new StringDecoder('utf8'), emittedChars: 0 };
    return response;
  };

  function emitText(response: StreamedResponse, bytes: Buffer) {
    let text = replaceNul(response.decoder.write(bytes)).slice(0, charsLeft);
    charsLeft -= text.length;
    while (text) {
      const piece = text.slice(0, AGENT_TEXT_CHARS_MAX);
      emit({
        type: 'agent',
        part: 'text',
        name: null,
        text: piece,
        piece: { step: response.step, offset: response.emittedChars },
      });
      response.emittedChars += piece.length;
      text = text.slice(piece.length);
    }
  }

  function receiveText(response: StreamedResponse, text: string) {
    response.received += text;
    emitText(response, response.masked.push(Buffer.from(text)));
  }

  return {
    begin: (step: number) => void beginResponse(step),
    /** Appends text; text out of order waits for the full response. */
    append({ ordinal, from, text }: Pick<ToolTextChunk, 'ordinal' | 'from' | 'text'>) {
      if (response?.step !== ordinal || from > response.received.length || from + text.length > STEP_BYTES_MAX) return;
      const more = text.slice(response.received.length - from);
      if (more && livePiecesLeft-- > 0) receiveText(response, more);
    },
    /** Ends the call. A response that differs from the received text is emitted anew, from its beginning. */
    end(reply: ToolResult) {
      if (!response) return;
      const fullText = getFullText(reply);
      if (fullText !== null) {
        if (!fullText.startsWith(response.received)) beginResponse(response.step);
        receiveText(response, fullText.slice(response.received.length));
      }
      emitText(response, response.masked.end());
      response = undefined;
    },
  };
}

/** Returns the text of a response; null if there is none. */
function getFullText(reply: ToolResult): string | null {
  if (!('result' in reply) || typeof reply.result !== 'object' || reply.result === null) return null;
  const { text } = reply.result as { text?: unknown };
  return typeof text === 'string' ? text : null;
}
