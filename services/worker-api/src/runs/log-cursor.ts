import { invalid } from '@gantry/errors';
import type { LogCursor } from '@gantry/run-engine';

export const formatCursor = ({ createdAt, runId, seq }: LogCursor): string =>
  Buffer.from(`${createdAt.getTime()} ${seq} ${runId}`).toString('base64url');

const CURSOR_PATTERN = /^(\d{1,15}) (\d{1,16}) ([!-~]{1,64})$/;

/** @throws AppError 400 for a cursor that formatCursor did not create */
export function parseCursor(text: string): LogCursor {
  const [, millis, seq, runId] = CURSOR_PATTERN.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const createdAt = new Date(Number(millis));
  if (runId === undefined || Number.isNaN(createdAt.getTime())) {
    throw invalid([{ path: 'cursor', message: 'must come from an earlier page' }]);
  }
  return { createdAt, runId, seq: Number(seq) };
}
