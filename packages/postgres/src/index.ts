export * from './failures';
export * from './pool';
export * from './transaction';
