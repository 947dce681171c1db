export * from './secrets/installation';
