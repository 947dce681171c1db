/** Maps log lines of runs to the API and to text. */
import { attemptOf, type LogLine } from '@gantry/run-engine';

export const lineToApi = ({ seq, at, data }: LogLine) => ({
  seq,
  attempt: attemptOf(seq),
  at: at.toISOString(),
  level: data.level,
  stream: data.stream,
  text: data.text,
  fields: data.fields ?? null,
});

export const lineToText = ({ at, data }: LogLine): string =>
  `${at.toISOString()} ${data.level.padEnd(7)} ${data.text}\n`;
