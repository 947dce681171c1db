import type { Response } from 'express';
import { waitForDrain } from './wait-for-drain';

/** Waits for a slow reader, so that its output does not accumulate in memory. */
export async function writeWithBackpressure(res: Response, text: string): Promise<void> {
  if (text && !res.write(text)) await waitForDrain(res);
}
