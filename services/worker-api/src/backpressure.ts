import { drained } from '@gantry/http';
import type { Response } from 'express';

/** Waits for a slow reader, so that what it is sent does not gather in memory. */
export async function written(res: Response, text: string): Promise<void> {
  if (text && !res.write(text)) await drained(res);
}
