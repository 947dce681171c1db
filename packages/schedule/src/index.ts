export * from './cron';
export * from './plan-fires';
