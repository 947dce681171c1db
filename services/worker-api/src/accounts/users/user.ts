import type { User } from '../../generated/prisma/client';

export const userToApi = ({ id, email, emailVerifiedAt, name, createdAt }: User) => ({
  id,
  email,
  email_verified: emailVerifiedAt !== null,
  name,
  created_at: createdAt.toISOString(),
});
