import { readSettings } from './settings';

test.each(['10.0.0.1', '10.0.0.0/8', '2001:db8::/32'])('%s can be the proxy that is trusted', (address) => {
  expect(readSettings({ GANTRY_TRUSTED_PROXY: address }).trustedProxy).toBe(address);
});

test.each(['all', '10.0.0.1; error_log /etc/passwd', '10.0.0.0/8 192.168.0.0/16'])('%s can not', (text) => {
  expect(() => readSettings({ GANTRY_TRUSTED_PROXY: text })).toThrow('GANTRY_TRUSTED_PROXY must be');
});
