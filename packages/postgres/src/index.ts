export * from './delete-old';
export * from './failures';
export * from './pool';
export * from './statement';
export * from './transaction';
