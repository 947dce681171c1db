export * from './executor';
