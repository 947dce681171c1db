import fs from 'node:fs';
import { originOf } from '../egress/proxy';

/** The package index, from pip's own variables. */
export interface PackageIndex {
  indexUrl: string | null;
  extraIndexUrls: string[];
  findLinks: string[];
  /** Additional hosts that files may be downloaded from: `name` or `name:port` over https, or an address. */
  fileHosts: string[];
}

/** Builds the options that pip and uv share. */
export function indexOptions(index: PackageIndex): string[] {
  return [
    ...(index.indexUrl ? ['--index-url', index.indexUrl] : ['--no-index']),
    ...index.extraIndexUrls.flatMap((url) => ['--extra-index-url', url]),
    ...index.findLinks
      .filter((place) => place.includes('://') || fs.existsSync(place))
      .flatMap((place) => ['--find-links', place]),
  ];
}

/** Lists the directories of wheels on this machine. */
export const indexDirectories = ({ findLinks }: PackageIndex): string[] =>
  findLinks.filter((place) => place.startsWith('/'));

/** Lists each host with its own scheme and port, so that nothing else listening there is reachable. */
export function indexOrigins(index: PackageIndex): string[] {
  const hosts = index.fileHosts.map((host) => (host.includes('://') ? host : `https://${host}`));
  return [...new Set([...indexUrls(index), ...hosts].map((place) => originOf(new URL(place))))];
}

/** Finds `name:password` for a URL at an index whose own URL has them. */
export function indexCredentials(index: PackageIndex, address: URL): string | undefined {
  const { username, password } =
    indexUrls(index)
      .map((url) => new URL(url))
      .find((url) => url.username && originOf(url) === originOf(address)) ?? {};
  return username && `${decodeURIComponent(username)}:${decodeURIComponent(password ?? '')}`;
}

const indexUrls = ({ indexUrl, extraIndexUrls, findLinks }: PackageIndex): string[] =>
  [indexUrl, ...extraIndexUrls, ...findLinks].filter((place): place is string => Boolean(place?.includes('://')));
