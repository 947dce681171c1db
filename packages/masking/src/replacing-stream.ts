/**
 * Replaces values in a stream, in each of their forms and however they are escaped. The result is the same however
 * the stream is split into chunks: bytes that could yet become part of a value are held back.
 */
import type { ByteMatcher } from './byte-matcher';
import { createDecodedView, type DecodedView, VIEWS } from './decoded-view';
import { ESCAPE_KIND_BY_BYTE } from './escapes';

export const MASK = '***';

export interface RedactedStream {
  /** @returns the bytes that are safe to show now. */
  push(chunk: Buffer): Buffer;
  /** @returns the bytes held back so far. */
  end(): Buffer;
}

const MASK_BYTES = Buffer.from(MASK);
const EMPTY_BUFFER = Buffer.alloc(0);
/** Smaller holds are emitted at once; a larger hold advances in larger steps, so that copying stays linear too. */
const SMALL_HOLD_BYTES = 4_096;

/** Emitted ranges are removed together beyond this number. */
const EMITTED_RANGES_MAX = 1_000;

interface Range {
  from: number;
  to: number;
  /** Its replacement. */
  by: Buffer;
}

export interface ReplacingStreamOptions {
  /** The replacement of each string of the matcher; default: a mask. Where different ones overlap, a mask. */
  by?: readonly Buffer[];
  /** Replaces each matched byte by an asterisk, for streams whose length was announced. */
  keepLength?: boolean;
  onReplaced?(): void;
}

/** Replaces each maximal range of bytes that belong to any match. */
export function createReplacingStream(matcher: ByteMatcher, options: ReplacingStreamOptions = {}): RedactedStream {
  const { by, keepLength, onReplaced } = options;
  /** Positions count from the start of the stream; `base` is the position of the first held byte. */
  let held: Buffer[] = [];
  let base = 0;
  let position = 0;
  let node = 0;
  let views: DecodedView[] | undefined;
  let active: DecodedView[] = [];
  /** Ranges of matched bytes that have not been emitted yet, in order and disjoint. */
  let found: Range[] = [];
  /** Number of ranges at the front of `found` that have been emitted: removing each would move all others. */
  let emitted = 0;
  let endedInMask = false;

  function markRange(from: number, to: number, owner: number) {
    let range: Range = { from, to, by: by?.[owner] ?? MASK_BYTES };
    const later: Range[] = [];
    for (let last = found.at(-1); last && found.length > emitted && last.to >= range.from; last = found.at(-1)) {
      found.pop();
      if (last.from > range.to) later.push(last);
      else range = mergeRanges(last, range);
    }
    found.push(range, ...later.reverse());
  }

  function activateViews(byte: number) {
    const kind = ESCAPE_KIND_BY_BYTE[byte];
    if (kind === undefined) return;
    views ??= VIEWS.map((levels) => createDecodedView(levels, matcher, markRange));
    for (const view of views) {
      if (view.isActive || !view.reads(kind)) continue;
      view.activate(node, position);
      active.push(view);
    }
  }

  function emitUpTo(endOffset: number): Buffer {
    const bytes = held.length === 1 && held[0] ? held[0] : Buffer.concat(held);
    const out: Buffer[] = [];
    let at = base;
    while (at < endOffset) {
      const next = found[emitted];
      const plainEnd = Math.min(endOffset, next?.from ?? endOffset);
      if (plainEnd > at) {
        out.push(bytes.subarray(at - base, plainEnd - base));
        endedInMask = false;
        at = plainEnd;
      }
      if (!next || next.from >= endOffset) continue;
      const matchedEnd = Math.min(endOffset, next.to);
      // A piece of the same range may have been replaced already.
      if (!endedInMask) onReplaced?.();
      if (keepLength) out.push(Buffer.alloc(matchedEnd - at, '*'));
      else if (!endedInMask) out.push(next.by);
      endedInMask = true;
      at = matchedEnd;
      if (next.to <= endOffset) emitted++;
      else next.from = endOffset;
    }
    if (emitted === found.length || emitted > EMITTED_RANGES_MAX) {
      found = found.slice(emitted);
      emitted = 0;
    }
    held = endOffset < position ? [bytes.subarray(endOffset - base)] : [];
    base = endOffset;
    return out.length === 1 && out[0] ? out[0] : Buffer.concat(out);
  }

  return {
    push(chunk) {
      held.push(chunk);
      for (const byte of chunk) {
        activateViews(byte);
        for (const view of active) view.push(byte, position);
        position++;
        node = matcher.step(node, byte);
        const length = matcher.matched[node] as number;
        if (length) markRange(position - length, position, matcher.owner[node] as number);
        let isDropped = false;
        for (const view of active) if (view.dropIfEqual(node)) isDropped = true;
        // Bounded: as many views as VIEWS lists.
        if (isDropped) active = active.filter(({ isActive }) => isActive);
      }
      let safe = position - (matcher.depth[node] as number);
      for (const view of active) safe = Math.min(safe, view.getSafePosition(position));
      const waiting = position - base;
      if (safe === base || (waiting > SMALL_HOLD_BYTES && (safe - base) * 2 < waiting)) return EMPTY_BUFFER;
      return emitUpTo(safe);
    },
    end() {
      for (const view of active) view.end();
      return emitUpTo(position);
    },
  };
}

/** Merges two ranges: one that contains the other replaces both; otherwise a mask does, unless they share one. */
function mergeRanges(a: Range, b: Range): Range {
  const from = Math.min(a.from, b.from);
  const to = Math.max(a.to, b.to);
  const outer = [b, a].find((one) => one.from === from && one.to === to);
  return outer ?? { from, to, by: a.by === b.by ? a.by : MASK_BYTES };
}
