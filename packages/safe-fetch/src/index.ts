export * from './address-check';
export * from './match-host';
export * from './outbound-allow-list';
export * from './outbound-error';
export * from './outbound-url';
export * from './safe-fetch';
export * from './to-plain-headers';
