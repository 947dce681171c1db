import fs from 'node:fs';
import { toOrigin } from '../egress/proxy';

/** The package index, from pip's own variables. */
export interface PackageIndex {
  indexUrl: string | null;
  extraIndexUrls: string[];
  findLinks: string[];
  /** Additional hosts that files may be downloaded from: `name` or `name:port` over https, or an address. */
  fileHosts: string[];
}

/** Builds the options that pip and uv share. */
export function buildIndexOptions(index: PackageIndex): string[] {
  return [
    ...(index.indexUrl ? ['--index-url', index.indexUrl] : ['--no-index']),
    ...index.extraIndexUrls.flatMap((url) => ['--extra-index-url', url]),
    ...index.findLinks
      .filter((place) => place.includes('://') || fs.existsSync(place))
      .flatMap((place) => ['--find-links', place]),
  ];
}

/** Lists the directories of wheels on this machine. */
export const listIndexDirectories = ({ findLinks }: PackageIndex): string[] =>
  findLinks.filter((place) => place.startsWith('/'));

/** Lists each host with its own scheme and port, so that nothing else listening there is reachable. */
export function listIndexOrigins(index: PackageIndex): string[] {
  const hosts = index.fileHosts.map((host) => (host.includes('://') ? host : `https://${host}`));
  return [...new Set([...listIndexUrls(index), ...hosts].map((place) => toOrigin(new URL(place))))];
}

/** Finds `name:password` for a URL at an index whose own URL has them. */
export function findIndexCredentials(index: PackageIndex, address: URL): string | undefined {
  const { username, password } =
    listIndexUrls(index)
      .map((url) => new URL(url))
      .find((url) => url.username && toOrigin(url) === toOrigin(address)) ?? {};
  return username && `${decodeURIComponent(username)}:${decodeURIComponent(password ?? '')}`;
}

const listIndexUrls = ({ indexUrl, extraIndexUrls, findLinks }: PackageIndex): string[] =>
  [indexUrl, ...extraIndexUrls, ...findLinks].filter((place): place is string => Boolean(place?.includes('://')));
