import { toApiFields } from '@gantry/http';
import type { User } from '../../generated/prisma/client';

export const userToApi = (user: User) => ({
  ...toApiFields(user, 'id', 'email', 'name', 'createdAt'),
  email_verified: user.emailVerifiedAt !== null,
});
