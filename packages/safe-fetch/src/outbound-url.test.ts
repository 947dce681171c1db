import { outboundAllowList } from './outbound-allow-list';
import type { OutboundError } from './outbound-error';
import { checkOutboundUrl } from './outbound-url';

function getFailure(url: string, allow?: string[]): Partial<OutboundError> {
  try {
    checkOutboundUrl(url, { allow });
    return {};
  } catch (err) {
    return err as OutboundError;
  }
}

test.each([
  'http://127.0.0.1/',
  'http://127.0.0.1./',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://127.1/',
  'http://0/',
  'http://%31%32%37.0.0.1/',
  'http://１２７.０.０.１/',
  'http://127。0。0。1/',
  'http:127.0.0.1',
  'http:\\\\127.0.0.1\\',
  ' http://127.0.0.1\t/',
  'http://[::1]/',
  'http://[::]/',
  'http://[0:0:0:0:0:ffff:7f00:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:a00:1]:8080/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::10.0.0.1]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://[fd00:ec2::254]/latest/',
  'http://[fe80::1]/',
  'https://169.254.169.254/latest/meta-data/',
  'https://10.96.0.1/',
  'https://192.168.0.1/',
  'https://100.100.100.200/',
  'https://224.0.0.251/',
  'http://localhost:3000/',
  'http://LOCALHOST./',
  'http://db.localhost/',
])('%s is refused as a private address', (url) => {
  expect(getFailure(url).code).toBe('refused_address');
});

test.each([
  ['', /absolute/],
  ['/hook', /absolute/],
  ['hooks.example/a', /absolute/],
  ['http://', /absolute/],
  ['http://256.0.0.1/', /absolute/],
  ['http://[fe80::1%25eth0]/', /absolute/],
  ['ftp://files.example/', /http/],
  ['file:///etc/passwd', /http/],
  ['javascript:alert(1)', /http/],
  ['https://user@hooks.example/', /user name or password/],
  ['https://:secret@hooks.example/', /user name or password/],
  ['https://8.8.8.8@127.0.0.1/', /user name or password/],
  ['http://mail.example:25/', /port 25/],
  ['https://chat.example:6667/', /port 6667/],
  [`https://hooks.example/${'a'.repeat(8192)}`, /8192/],
])('%.60s is not a URL to call', (url, message) => {
  expect(getFailure(url)).toMatchObject({ code: 'bad_url', message: expect.stringMatching(message) });
});

test.each([
  ['https://hooks.example/a?b=c#d', 'https://hooks.example/a?b=c#d'],
  ['https://hooks.example.:8443/', 'https://hooks.example:8443/'],
  ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
  ['https://1.1.1.1/', 'https://1.1.1.1/'],
  ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
  ['https://resolves-to-anything.internal/', 'https://resolves-to-anything.internal/'],
])('%s can be saved', (url, saved) => {
  expect(checkOutboundUrl(url).href).toBe(saved);
});

test('addresses that the operator allows can be saved in any spelling, and no others', () => {
  const allow = ['127.0.0.1:8080', '10.1.0.0/16'];
  for (const url of ['http://127.1:8080/', 'http://localhost:8080/', 'http://[::ffff:127.0.0.1]:8080/'])
    expect(getFailure(url, allow)).toEqual({});
  expect(getFailure('http://10.1.2.3/', allow)).toEqual({});
  expect(getFailure('http://127.0.0.1:8081/', allow).code).toBe('refused_address');
  expect(getFailure('http://10.2.0.1/', allow).code).toBe('refused_address');
});

describe('OUTBOUND_ALLOW_CIDRS', () => {
  test('is a list of networks and addresses, empty unless set', () => {
    expect(outboundAllowList.parse(undefined)).toEqual([]);
    expect(outboundAllowList.parse(' 10.0.0.0/8, 127.0.0.1:8080\n[fd00::5]:80 fd00::/8')).toEqual([
      '10.0.0.0/8',
      '127.0.0.1:8080',
      '[fd00::5]:80',
      'fd00::/8',
    ]);
  });

  test('names every entry that is neither', () => {
    const parsed = outboundAllowList.safeParse('10.0.0.0/8, hooks.example, 10.0.0/8, 10.0.0.0/33, fd00::/x');
    expect(parsed.error?.issues.map(({ message }) => message)).toEqual([
      'hooks.example is neither a network nor an address',
      '10.0.0/8 is neither a network nor an address',
      '10.0.0.0/33 is neither a network nor an address',
      'fd00::/x is neither a network nor an address',
    ]);
  });
});
