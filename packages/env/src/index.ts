export * from './aligned-interval';
export * from './certificates';
export * from './clock';
export * from './read-env';
export * from './wait-until-ready';
