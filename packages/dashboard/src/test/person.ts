export const PERSON = { email: 'ada@example.com', password: 'correct horse battery' };
