export * from './secrets/installation-secrets';
