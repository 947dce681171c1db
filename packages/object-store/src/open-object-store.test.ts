import { tmpdir } from 'node:os';
import { openObjectStore } from './open-object-store';

const settings = { signingKey: 'k'.repeat(32), publicUrl: 'http://public.test', internalUrl: 'http://internal.test' };
const open = (location: string) =>
  openObjectStore({ ...settings, location, s3Credentials: { accessKeyId: 'a', secretAccessKey: 's' } });
const presign = async (location: string, audience: 'public' | 'internal') =>
  new URL(await open(location).presignGet('ws_a/x', { expiresSeconds: 60, audience }));

test.each([`file:${tmpdir()}`, `file://${tmpdir()}`])(
  '%s is a directory, with URLs for each audience',
  async (location) => {
    expect((await presign(location, 'public')).host).toBe('public.test');
    expect((await presign(location, 'internal')).host).toBe('internal.test');
  },
);

test('s3:// is a bucket, reached at other addresses from outside and inside', async () => {
  const location =
    's3://my-bucket?region=eu-central-1&endpoint=http://minio:9000&publicEndpoint=https://files.test&pathStyle=true';
  const outside = await presign(location, 'public');
  expect(`${outside.host}${outside.pathname}`).toBe('files.test/my-bucket/ws_a/x');
  expect(outside.searchParams.get('X-Amz-Credential')).toContain('eu-central-1');
  expect((await presign(location, 'internal')).host).toBe('minio:9000');
});

test('on AWS the name of the bucket is enough', async () => {
  expect((await presign('s3://my-bucket?region=eu-west-1', 'public')).host).toBe(
    'my-bucket.s3.eu-west-1.amazonaws.com',
  );
});

test('anything else is refused with the accepted forms', () => {
  expect(() => open('/var/lib/gantry')).toThrow('file:<directory> or s3://<bucket>');
});
