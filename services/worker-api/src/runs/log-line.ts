/** Maps log lines of runs to the API and to text. */
import { getAttempt, type LogLine } from '@gantry/run-engine';

export const logLineToApi = ({ seq, at, data }: LogLine) => ({
  seq,
  attempt: getAttempt(seq),
  at: at.toISOString(),
  level: data.level,
  stream: data.stream,
  text: data.text,
  fields: data.fields ?? null,
});

export const formatLogLine = ({ at, data }: LogLine): string =>
  `${at.toISOString()} ${data.level.padEnd(7)} ${data.text}\n`;
