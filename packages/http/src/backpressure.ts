import type { Response } from 'express';
import { drained } from './drained';

/** Waits for a slow reader, so that what it is sent does not gather in memory. */
export async function writeWithBackpressure(res: Response, text: string): Promise<void> {
  if (text && !res.write(text)) await drained(res);
}
