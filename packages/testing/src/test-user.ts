/** Builds the part of an identity that names a user whose address is unknown, and the token. */
export const buildTestUser = ({ userId = 'usr_1', tokenId = 'tok_1' } = {}) => ({
  userId,
  email: null,
  emailVerified: false,
  name: null,
  tokenId,
});
