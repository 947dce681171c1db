import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Version of this service, as its package says. */
export const { version } = JSON.parse(readFileSync(path.resolve(__dirname, '../../package.json'), 'utf8')) as {
  version: string;
};
