export * from './cron';
export * from './plan-fires';
export * from './schedule-metrics';
