/** Objects in an S3 bucket, or any server that implements its protocol. Presigned URLs are the bucket's own. */
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import {
  type Audience,
  assertExpiry,
  assertKey,
  buildContentDisposition,
  ObjectMissingError,
  type ObjectStore,
  readAll,
  throwStoreError,
  toStoreError,
} from './object-store';

export interface S3StoreOptions {
  bucket: string;
  region: string;
  /** Absent: AWS. */
  endpoint?: string;
  /** The same bucket's address for browsers and clients. Absent: `endpoint`. */
  publicEndpoint?: string;
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`. */
  pathStyle?: boolean;
  /** Absent: the SDK's default credentials, such as the machine's role. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** CAs of the endpoints, in PEM. Absent: those that Node.js trusts. */
  ca?: string | undefined;
  /** Milliseconds. Default: `performance.now`. */
  now?: () => number;
}

export interface S3Store extends ObjectStore {
  readonly driver: 's3';
}

/** Limit for a stream of unknown length: a PUT needs its length up front, so the stream is buffered. */
const STREAM_BYTES_MAX = 128 * 1024 * 1024;

/** One key for all replicas, so that probes that were not deleted do not pile up. */
const PROBE_KEY = 'health-check/probe';
/** `check` runs at every poll of /health, and each PUT costs money. */
const PROBE_INTERVAL_MS = 30_000;

export function createS3Store(options: S3StoreOptions): S3Store {
  const { bucket, now = () => performance.now() } = options;
  const createClient = (endpoint: string | undefined) => {
    const config: S3ClientConfig = {
      region: options.region,
      forcePathStyle: options.pathStyle ?? false,
      // By default a presigned PUT would sign the checksum of an empty body, and every upload through it would fail.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(endpoint && { endpoint }),
      ...(options.ca && { requestHandler: { httpsAgent: { ca: options.ca } } }),
      ...(options.credentials && { credentials: options.credentials }),
    };
    return new S3Client(config);
  };
  const internalClient = createClient(options.endpoint);
  const publicClient = options.publicEndpoint ? createClient(options.publicEndpoint) : internalClient;
  const getClient = (audience: Audience) => (audience === 'public' ? publicClient : internalClient);

  async function head(key: string): Promise<{ size: number } | null> {
    assertKey(key);
    try {
      const found = await internalClient.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      return { size: found.ContentLength ?? 0 };
    } catch (err) {
      if (isMissing(err)) return null;
      throw toStoreError(err);
    }
  }

  async function get(key: string): Promise<Readable> {
    assertKey(key);
    try {
      const { Body } = await internalClient.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      if (!(Body instanceof Readable)) throw new Error('S3 responded without a body');
      return Body;
    } catch (err) {
      throw isMissing(err) ? new ObjectMissingError(key) : toStoreError(err);
    }
  }

  async function deleteFolder(folder: string): Promise<void> {
    assertKey(folder);
    for (;;) {
      const page = new ListObjectsV2Command({ Bucket: bucket, Prefix: `${folder}/` });
      const { Contents = [] } = await internalClient.send(page).catch(throwStoreError);
      if (!Contents.length) return;
      const found = { Objects: Contents.map(({ Key }) => ({ Key })), Quiet: true };
      const deletion = new DeleteObjectsCommand({ Bucket: bucket, Delete: found });
      const { Errors: [failed] = [] } = await internalClient.send(deletion).catch(throwStoreError);
      if (failed) throw new Error(`S3 did not delete ${failed.Key}: ${failed.Code} ${failed.Message}`);
    }
  }

  const put: ObjectStore['put'] = async (key, body, { contentType } = {}) => {
    assertKey(key);
    const bytes = Buffer.isBuffer(body) ? body : await readAll(key, body, STREAM_BYTES_MAX);
    const command = new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ContentType: contentType });
    await internalClient.send(command).catch(throwStoreError);
  };

  async function deleteObject(key: string): Promise<void> {
    assertKey(key);
    await internalClient.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })).catch(throwStoreError);
  }

  async function writeProbe(): Promise<void> {
    await put(PROBE_KEY, Buffer.from('probe'));
    await deleteObject(PROBE_KEY);
  }

  let lastProbe: { startedAt: number; result: Promise<void> } | undefined;

  async function check(): Promise<void> {
    await internalClient.send(new HeadBucketCommand({ Bucket: bucket })).catch(throwStoreError);
    // A bucket whose quota or policy refuses writes still passes HeadBucket.
    if (!lastProbe || now() - lastProbe.startedAt >= PROBE_INTERVAL_MS) {
      lastProbe = { startedAt: now(), result: writeProbe() };
    }
    await lastProbe.result;
  }

  return {
    driver: 's3',
    head,
    get,
    put,
    getBuffer: async (key, maxBytes) => readAll(key, await get(key), maxBytes),
    delete: deleteObject,
    deleteFolder,
    check,
    presignPut: async (key, { contentType, expiresSeconds, audience }) => {
      assertKey(key);
      assertExpiry(expiresSeconds);
      const command = new PutObjectCommand({ Bucket: bucket, Key: key, ContentType: contentType });
      const signed = contentType ? { signableHeaders: new Set(['content-type']) } : {};
      return getSignedUrl(getClient(audience), command, { expiresIn: expiresSeconds, ...signed });
    },
    presignGet: async (key, { expiresSeconds, audience, filename, contentType }) => {
      assertKey(key);
      assertExpiry(expiresSeconds);
      const command = new GetObjectCommand({
        Bucket: bucket,
        Key: key,
        ResponseContentDisposition: buildContentDisposition(filename),
        ResponseContentType: contentType ?? 'application/octet-stream',
      });
      return getSignedUrl(getClient(audience), command, { expiresIn: expiresSeconds });
    },
  };
}

function isMissing(err: unknown): boolean {
  const { name, $metadata } = err as { name?: string; $metadata?: { httpStatusCode?: number } };
  if (name === 'NoSuchBucket') return false;
  return name === 'NoSuchKey' || name === 'NotFound' || $metadata?.httpStatusCode === 404;
}
