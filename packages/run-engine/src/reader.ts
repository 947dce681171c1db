/** Who reads a live stream, and what a run's hub tells them. */
import type { StoredEvent } from './run-events';

/** An event as text, made once for all readers. */
export interface Told {
  seq: number;
  type: StoredEvent['type'];
  /** A JSON object. */
  body: string;
}

export interface Reader {
  /** Number of the last event that it has. */
  last: number;
  /** Readers with the same style get the same bytes. */
  style: string;
  open: boolean;
  render(events: Told[]): string;
  comment(last: number): string;
  write(bytes: Buffer): void;
  /** Resolves when it can take more, or is gone. */
  drained(): Promise<void>;
  end(): void;
}
