import { type AppError, forbidden } from '@gantry/errors';

/** @param thing with its name: `the skill "tea"` */
export const notOwner = (thing: string): AppError =>
  forbidden('not_owner', `${thing} belongs to another account; only its owner can do this`);
