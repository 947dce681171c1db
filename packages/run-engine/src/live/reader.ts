/** Readers of a live stream, and the events that a run's hub sends to them. */
import type { StoredEvent } from '../run-events';

/** An event as text, serialized once for all readers. */
export interface StreamEvent {
  seq: number;
  type: StoredEvent['type'];
  /** A JSON object. */
  body: string;
}

export interface Reader {
  /** Number of the last event that it received. */
  last: number;
  /** Readers with the same style get the same bytes. */
  style: string;
  open: boolean;
  render(events: StreamEvent[]): string;
  comment(last: number): string;
  write(bytes: Buffer): void;
  /** Resolves when it accepts more data, or is closed. */
  waitForDrain(): Promise<void>;
  end(): void;
}
