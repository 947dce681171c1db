/** Where packages come from, as pip's own variables say. */
export interface PackageIndex {
  indexUrl: string | null;
  extraIndexUrls: string[];
  findLinks: string[];
  /** Beside the addresses above, where files may be downloaded from: `name` or `name:port` by https, or an address. */
  fileHosts: string[];
}
