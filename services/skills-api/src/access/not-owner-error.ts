import { type AppError, forbidden } from '@gantry/errors';

/** @param resource with its name: `the skill "tea"` */
export const notOwnerError = (resource: string): AppError =>
  forbidden('not_owner', `${resource} belongs to another account; only its owner can do this`);
