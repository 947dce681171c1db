/** The package index, from pip's own variables. */
export interface PackageIndex {
  indexUrl: string | null;
  extraIndexUrls: string[];
  findLinks: string[];
  /** Additional hosts that files may be downloaded from: `name` or `name:port` over https, or an address. */
  fileHosts: string[];
}
