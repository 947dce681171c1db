export * from './delete-old';
export * from './env';
export * from './failures';
export * from './pool';
export * from './statement';
export * from './transaction';
