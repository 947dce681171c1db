import { listPorts, readSettings } from './settings';

test.each(['10.0.0.1', '10.0.0.0/8', '2001:db8::/32'])('%s can be the proxy that is trusted', (address) => {
  expect(readSettings({ GANTRY_TRUSTED_PROXY: address }).trustedProxy).toBe(address);
});

test.each(['all', '10.0.0.1; error_log /etc/passwd', '10.0.0.0/8 192.168.0.0/16'])('%s cannot', (text) => {
  expect(() => readSettings({ GANTRY_TRUSTED_PROXY: text })).toThrow('GANTRY_TRUSTED_PROXY must be');
});

test.each([1, 8080, 32_654, 32_655, 50_000, 60_999, 65_533])(
  'with GANTRY_PORT=%i no internal port is in the ephemeral range, and none is used twice',
  (first) => {
    const wanted = listPorts(readSettings({ GANTRY_PORT: String(first) }));
    const ports = wanted.map(({ port }) => port);
    expect(new Set(ports).size).toBe(ports.length);
    const internal = wanted.filter(({ name }) => name !== 'gateway').map(({ port }) => port);
    expect(internal).toHaveLength(10);
    for (const port of internal) expect(port >= 32_768 && port <= 60_999).toBe(false);
  },
);
