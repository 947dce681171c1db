import os from 'node:os';
import { createAddressPolicy } from './address-check';

const policy = createAddressPolicy();

test.each([
  '127.0.0.1',
  '127.8.8.8',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.127.255.255',
  '224.0.0.1',
  '239.255.255.255',
  '255.255.255.255',
  '240.0.0.1',
  '198.18.0.1',
  '192.0.2.1',
  '192.0.0.8',
  '168.63.129.16',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::FFFF:10.0.0.1',
  '::ffff:0:127.0.0.1',
  '::127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
  '2001::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '100::1',
  'localhost',
  'example.com',
  '',
  '0x7f.1',
  '2130706433',
  '127.1',
  '010.0.0.1',
])('%s is refused', (address) => {
  expect(policy.isAllowed(address, 80)).toBe(false);
});

const PUBLIC = '1.1.1.1 8.8.8.8 172.32.0.1 100.128.0.1 2606:4700:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808';
test.each(PUBLIC.split(' '))('%s is allowed', (address) => {
  expect(policy.isAllowed(address, 443)).toBe(true);
});

test('the machine’s own addresses are refused', () => {
  const own = Object.values(os.networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
  for (const address of own) expect(policy.isAllowed(address, 80)).toBe(false);
});

test('exceptions open exactly what they name', () => {
  const open = createAddressPolicy(['127.0.0.1:8080', '10.1.0.0/16', '[::1]:90']);
  expect(open.isAllowed('127.0.0.1', 8080)).toBe(true);
  expect(open.isAllowed('::ffff:127.0.0.1', 8080)).toBe(true);
  expect(open.isAllowed('127.0.0.1', 8081)).toBe(false);
  expect(open.isAllowed('10.1.2.3', 5)).toBe(true);
  expect(open.isAllowed('10.2.2.3', 5)).toBe(false);
  expect(open.isAllowed('::1', 90)).toBe(true);
  expect(open.isAllowed('::1', 91)).toBe(false);
});
