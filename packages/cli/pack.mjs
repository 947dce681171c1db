/**
 * Packs the chunks of the bundle into one file: loader.mjs, and each chunk as a string in a comment behind it, which Node
 * neither parses nor compiles. The loader reads those that a command needs.
 */
import fs from 'node:fs';

const LOADER = new URL('loader.mjs', import.meta.url);

/** The script of a chunk. Code caches belong to exactly this text. */
export const toScript = (code) => `(function(require,module,exports){${code}\n})`;

/**
 * @param chunks code by name
 * @param codeCaches V8's, base64, for some of them
 */
export function packChunks(chunks, codeCaches) {
  const parts = [];
  const places = Object.entries(chunks).map(([name, code]) => {
    const own = [toAsciiString(toScript(code)), ...(codeCaches[name] ? [codeCaches[name]] : [])];
    parts.push(...own);
    return [name, own.map((part) => part.length)];
  });
  const end = '*/\n';
  let fromEnd = parts.reduce((sum, part) => sum + part.length, end.length);
  const table = places.map(([name, lengths]) => {
    const place = lengths.flatMap((length) => {
      fromEnd -= length;
      return [fromEnd + length, length];
    });
    return [name, place];
  });
  const loader = fs.readFileSync(LOADER, 'utf8').replace('CHUNKS', JSON.stringify(Object.fromEntries(table)));
  return `#!/usr/bin/env node\n${loader}/*${parts.join('')}${end}`;
}

/** JSON in which each character is one byte, and nothing ends the comment. */
const toAsciiString = (code) =>
  JSON.stringify(code)
    .replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('*/', '*\\/');
