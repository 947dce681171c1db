import fs from 'node:fs';
import { getBytes, TransferError } from '../transfer/object-transfer';
import type { PackageIndex } from './package-index';

const PAGE_BYTES_MAX = 32 << 20;
/** The installer has waited for the index before. */
const INDEX_OUTAGE_MS_MAX = 4_000;

/** Normalizes the name of a package, as in PEP 503. */
export const normalizeName = (name: string) => name.toLowerCase().replace(/[-_.]+/g, '-');

/**
 * Explains why a set could not be resolved, by uv either. pip reports a typo, an unreachable index and a package
 * without wheels in the same way; this asks the index itself to tell them apart.
 */
export async function explainFailure(output: string, requirements: string[], index: PackageIndex): Promise<string> {
  const unsatisfied = /No matching distribution found for ([^\s(]+)/.exec(output)?.[1];
  if (!unsatisfied) {
    const archive = findReferencedArchive(output);
    if (archive) {
      return `A dependency of ${requirements.join(', ')} references an archive by URL (${archive}). Only wheels from the package index are installed: nothing is downloaded from elsewhere or built from source.`;
    }
    return `${requirements.join(', ')} could not be installed: ${findLastError(output)}`;
  }
  const name = /^[A-Za-z0-9._-]+?(?=[[<>=!~;]|$)/.exec(unsatisfied)?.[0] ?? unsatisfied;
  const offered = /\(from versions: ([^()]*)\)/.exec(output)?.[1] ?? 'none';
  if (offered !== 'none') {
    const newest = offered.split(',').slice(-8).join(',').trim();
    return `There is no version of ${name} that satisfies ${unsatisfied}. Available: ${newest}.`;
  }
  const known = listMatchingFiles(name, index.findLinks);
  if (known.length === 0 && index.indexUrl) {
    const page = await loadIndexPage(name, index.indexUrl);
    if ('unreachable' in page) {
      return `The package index ${new URL(index.indexUrl).origin} can't be reached (${page.unreachable}), so ${unsatisfied} could not be installed.`;
    }
    known.push(...page.files);
  }
  if (known.length === 0) return `There is no package called ${name}. Check its spelling.`;
  if (known.some((file) => file.endsWith('.whl'))) {
    return `${name} has no wheel that satisfies ${unsatisfied} for this Python version and machine.`;
  }
  return `${name} is available only as a source distribution. Building it would run its code, so only wheels are installed.`;
}

/** Finds the archive that pip was processing when it failed, unless it was a wheel or a package of the index. */
function findReferencedArchive(output: string): string | undefined {
  const last = [...output.matchAll(/^(?:Collecting|Processing) (.+)$/gm)].at(-1)?.[1] ?? '';
  const [, name, url] = /^(\S+?)\s*@\s*(\S+)/.exec(last) ?? [];
  if (name && url) return `${name} at ${url.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*/, '')}`.slice(0, 300);
  const [word = ''] = last.split(' ');
  const file = word.slice(word.lastIndexOf('/') + 1);
  return /\.(?:tar\.\w{1,9}|tgz|zip)$/.test(file) ? file.slice(0, 200) : undefined;
}

function listMatchingFiles(name: string, places: string[]): string[] {
  const files = places
    .filter((place) => place.startsWith('/') && fs.existsSync(place))
    .flatMap((place) => fs.readdirSync(place));
  return files.filter(
    (file) => normalizeName(file).startsWith(`${normalizeName(name)}-`) && /\.(whl|tar\.gz|zip)$/.test(file),
  );
}

async function loadIndexPage(name: string, indexUrl: string): Promise<{ files: string[] } | { unreachable: string }> {
  try {
    const page = await getBytes(
      `${indexUrl.replace(/\/$/, '')}/${normalizeName(name)}/`,
      PAGE_BYTES_MAX,
      INDEX_OUTAGE_MS_MAX,
    );
    return {
      files: [...page.toString().matchAll(/>\s*([^<>\s]+\.(?:whl|tar\.gz|zip))\s*</g)].map((match) => match[1] ?? ''),
    };
  } catch (err) {
    if (err instanceof TransferError && !err.retryable) return { files: [] };
    return { unreachable: (err as Error).message.replace(/^\S+ /, '') };
  }
}

function findLastError(output: string): string {
  const errors = output.split('\n').filter((line) => line.startsWith('ERROR:'));
  return hideLocations(errors.at(-1) ?? output.trim().split('\n').at(-1) ?? '').slice(0, 500);
}

/** Replaces URLs, which may have credentials, and paths of this machine: the author of the code reads the error. */
const hideLocations = (line: string): string =>
  line
    .replace(/\b(?!file:)[a-z][a-z+]{1,15}:\/\/[^\s'"<>()]+/gi, 'the index')
    .replace(/(?<![^\s'"<>()=:,[])(?:file:\/)?\/[^\s'"<>()]+/gi, 'a file');
