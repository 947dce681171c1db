export * from './address-check';
export * from './match-host';
export * from './outbound-allow-list';
export * from './outbound-failed';
export * from './outbound-url';
export * from './plain-headers';
export * from './safe-fetch';
