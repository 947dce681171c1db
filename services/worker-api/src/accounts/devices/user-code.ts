/** Generates and normalises the codes that a person reads on one screen and types on another. */
import { randomInt } from 'node:crypto';

/** Without 0 O 1 I L and vowels: no two characters look alike, and no code is a word. */
const LETTERS = 'BCDFGHJKMNPQRSTVWXZ';
const DIGITS = '23456789';

const pickCharacter = (alphabet: string) => alphabet[randomInt(alphabet.length)] as string;

/** `ABCD-2345`: 19^4 x 8^4, 5 x 10^8 codes, each valid for ten minutes. */
export function generateUserCode(): string {
  const pickCharacters = (alphabet: string) => Array.from({ length: 4 }, () => pickCharacter(alphabet)).join('');
  return `${pickCharacters(LETTERS)}-${pickCharacters(DIGITS)}`;
}

/** The canonical form of a code as typed. */
export function normaliseUserCode(input: string): string {
  const bare = input.toUpperCase().replace(/[^A-Z0-9]/g, '');
  return `${bare.slice(0, 4)}-${bare.slice(4)}`;
}
