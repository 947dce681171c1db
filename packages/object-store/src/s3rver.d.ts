/** The subset of s3rver used here (tests only); the package has no types. */
declare module 's3rver' {
  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      silent: boolean;
      directory: string;
      configureBuckets: { name: string; configs: string[] }[];
      /** PEM; with both it serves HTTPS. */
      key?: Buffer;
      cert?: Buffer;
    });
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}
