/** Portable file paths: those that mean the same location on every system, below the root. */

const PATH_BYTES_MAX = 1_024;
const SEGMENT_BYTES_MAX = 255;
const DEPTH_MAX = 32;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL_CHARACTERS = /[\x00-\x1f\x7f]/;

/** Returns the problem with a path, or null. A directory's path ends with a slash. */
export function findPathProblem(path: string): string | null {
  const file = path.endsWith('/') ? path.slice(0, -1) : path;
  if (!file) return 'contains no file name';
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `is longer than ${PATH_BYTES_MAX} bytes`;
  if (file.split('/').length > DEPTH_MAX) return `has more than ${DEPTH_MAX} parts`;
  // Decoded once and twice: a path that some downstream tool would decode is refused like its decoded form.
  for (const reading of listDecodings(file)) {
    if (CONTROL_CHARACTERS.test(reading)) return 'contains a control character';
    if (reading.includes('\\')) return 'contains a backslash';
    if (reading.startsWith('/') || /^[A-Za-z]:/.test(reading)) return 'is absolute';
    for (const segment of reading.split('/')) {
      if (segment === '' || segment === '.' || segment === '..') return 'is not a plain relative path';
      if (Buffer.byteLength(segment) > SEGMENT_BYTES_MAX) return `has a part longer than ${SEGMENT_BYTES_MAX} bytes`;
    }
  }
  return null;
}

function listDecodings(path: string): string[] {
  const readings = [path];
  for (let times = 0; times < 2; times++) {
    readings.push(decodeEscapes(readings[times] as string));
  }
  return readings;
}

/** Decodes each escape separately, so that one malformed escape does not hide the others. */
const decodeEscapes = (text: string) =>
  text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Two names with the same key would be one file on some systems. */
export const toCollisionKey = (path: string): string => path.normalize('NFC').toLowerCase();
