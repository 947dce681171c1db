/**
 * Finds likely credentials in a file: position and kind, never the credential itself. Every pattern is linear
 * in the text: repetitions are bounded, or cannot restart inside the text they have just matched.
 */
import type { SurfaceSchemas } from '@gantry/openapi';
import type { TreeFile } from '../file-trees/file-tree';

/** `line`: 1-based. */
export type CredentialFinding = SurfaceSchemas<'worker'>['Finding'];

/** Enough for any reader; also the maximum stored per version. */
export const FINDINGS_MAX = 100;
/** A file that does not look like text in its first bytes is skipped. */
const TEXT_PROBE_BYTES = 8_192;

const CREDENTIAL_PATTERNS: [kind: string, pattern: RegExp][] = [
  ['private_key', /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY/g],
  ['aws_access_key', /(?:AKIA|ASIA)(?<![A-Za-z0-9]....)[0-9A-Z]{16}(?![0-9A-Za-z])/g],
  ['github_token', /gh[pousr]_(?<!\w....)[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{36}/g],
  ['gitlab_token', /glpat-[A-Za-z0-9_-]{20}/g],
  ['slack_token', /xox[abeoprs]-[A-Za-z0-9-]{10}|hooks\.slack\.com\/services\/T[A-Z0-9]{6,20}\/B[A-Z0-9]{6,20}\//g],
  ['stripe_key', /[rs]k_live_[A-Za-z0-9]{16}|whsec_[A-Za-z0-9+/]{24}/g],
  ['anthropic_key', /sk-ant-[A-Za-z0-9_-]{20}/g],
  ['openai_key', /sk-(?<![\w-]...)(?!ant-)(?:(?:proj|svcacct|admin)-)?[A-Za-z0-9_]{20}/g],
  ['google_api_key', /AIza[0-9A-Za-z_-]{35}/g],
  ['google_service_account', /"type"\s{0,9}:\s{0,9}"service_account"/g],
  ['npm_token', /npm_(?<!\w....)[A-Za-z0-9]{36}/g],
  ['pypi_token', /pypi-AgE[A-Za-z0-9_-]{50}/g],
  ['sendgrid_key', /SG\.[\w-]{22}\.[\w-]{43}/g],
  ['gantry_token', /(?:svc|wst|rly)_(?<!\w....)[0-9A-Za-z]{40}/g],
  // Linear: a match can start only at a word boundary, and each of its parts stays within one word.
  ['jwt', /eyJ(?<![\w-]...)[\w-]{10,4000}\.eyJ[\w-]{10,4000}\.[\w-]{10}/g],
  // Linear: a match attempt covers at most 192 characters from any position.
  ['url_password', /[a-z]:\/\/[^\s:/?#@]{1,64}:(?!\$|\{|<|%s)[^\s:/?#@]{6,128}@/g],
];

/** `PASSWORD = "..."` and the like; the value has to look random, otherwise every form of a login page would match. */
const ASSIGNMENT_PATTERN =
  /(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|credential)s?["']?[ \t]{0,5}(?::|=>?)[ \t]{0,5}["']?([^\s"'`#,;]{8,200})/gi;
/** Bits per character. Short random hexadecimal may have as few; `aaaaaaaa1` has fewer. */
const ENTROPY_MIN = 2.5;
const PLACEHOLDER = /^\$|[{}<>()[\]]|\*{3}|x{4}|example|changeme|placeholder|your[_-]|environ/i;

/** Sorted by line; at most FINDINGS_MAX. */
export function findCredentials({ path, content }: Pick<TreeFile, 'path' | 'content'>): CredentialFinding[] {
  if (content.subarray(0, TEXT_PROBE_BYTES).includes(0)) return [];
  // Every byte becomes one character: all patterns are ASCII.
  const text = content.toString('latin1');
  const found = new Map<number, Set<string>>();
  const lineAt = createLineCounter(text);
  let count = 0;
  const addFinding = (index: number, kind: string) => {
    const line = lineAt(index);
    const kinds = found.get(line) ?? new Set();
    if (kind === 'assigned_secret' && kinds.size) return;
    if (!kinds.has(kind)) count++;
    found.set(line, kinds.add(kind));
  };
  for (const [kind, pattern] of CREDENTIAL_PATTERNS) {
    for (const match of text.matchAll(pattern)) {
      if (count >= FINDINGS_MAX) break;
      addFinding(match.index, kind);
    }
  }
  for (const match of text.matchAll(ASSIGNMENT_PATTERN)) {
    if (count >= FINDINGS_MAX) break;
    if (isHighEntropy(match[1] ?? '')) addFinding(match.index, 'assigned_secret');
  }
  return [...found]
    .flatMap(([line, kinds]) => [...kinds].map((kind) => ({ path, line, kind })))
    .sort((a, b) => a.line - b.line);
}

function isHighEntropy(value: string): boolean {
  if (PLACEHOLDER.test(value) || !/[0-9]/.test(value) || !/[A-Za-z]/.test(value)) return false;
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let entropy = 0;
  for (const count of counts.values()) entropy -= (count / value.length) * Math.log2(count / value.length);
  return entropy >= ENTROPY_MIN;
}

/** Maps an index to its line, efficiently for many indexes in any order. */
function createLineCounter(text: string): (index: number) => number {
  let starts: number[] | undefined;
  return (index) => {
    if (!starts) {
      starts = [0];
      // Bounded: each search begins behind the line before.
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    }
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= index) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

const KIND_LABELS: Record<string, string> = {
  assigned_secret: 'a password or key',
  private_key: 'a private key',
  url_password: 'a URL with a password',
};

/** The message shown to users. */
export const formatFindingWarning = ({ path, line, kind }: CredentialFinding): string =>
  `${path}:${line} looks like it contains ${KIND_LABELS[kind] ?? `a credential (${kind})`}: everyone who can see the context can read it; store it as a secret instead`;
