import type { User } from '../generated/prisma/client';

export const userToApi = ({ id, email, name, createdAt }: User) => ({
  id,
  email,
  name,
  created_at: createdAt.toISOString(),
});
