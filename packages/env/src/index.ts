export * from './read-env';
