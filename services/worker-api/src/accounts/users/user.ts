import { apiFields } from '@gantry/http';
import type { User } from '../../generated/prisma/client';

export const userToApi = (user: User) => ({
  ...apiFields(user, 'id', 'email', 'name', 'createdAt'),
  email_verified: user.emailVerifiedAt !== null,
});
