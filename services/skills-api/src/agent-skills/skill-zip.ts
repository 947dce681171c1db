/** A skill as the folder that agents install: reading and writing `<slug>/SKILL.md` in a zip. */
import { BadArchiveError, readZip, writeZip, type ZipEntry } from '@gantry/archive';
import { AppError } from '@gantry/errors';
import { BODY_BYTES_MAX } from '../skills/skill';

export const ZIP_BYTES_MAX = 1024 * 1024;
const LIMITS = { entries: 200, bytes: BODY_BYTES_MAX };

/** Deterministic: the same skill gives the same bytes. */
export function zipSkill(slug: string, skillMd: string, at: Date): Promise<Buffer> {
  return writeZip([{ path: `${slug}/SKILL.md`, content: Buffer.from(skillMd) }], at);
}

/**
 * Reads the SKILL.md at the root of the zip or in its only folder. The other files are not unpacked.
 * @returns its text, and the names of the other files
 * @throws AppError 400 `bad_zip`, 413
 */
export async function readSkillZip(zip: Buffer): Promise<{ body: string; others: string[] }> {
  const files = (await readZip(zip, LIMITS).catch(throwInvalidZip)).filter(({ isDirectory }) => !isDirectory);
  const [skillMd, another] = files.filter(isSkillMd);
  if (!skillMd) throw invalidZipError('it has no SKILL.md at its root or in a top-level folder');
  if (another) throw invalidZipError('it has more than one SKILL.md');
  const content = await skillMd.content().catch(throwInvalidZip);
  const others = files.filter((file) => file !== skillMd).map(({ path }) => path);
  try {
    return { body: new TextDecoder('utf-8', { fatal: true }).decode(content), others };
  } catch (err) {
    throw invalidZipError('SKILL.md is not valid UTF-8', err);
  }
}

const isSkillMd = ({ path }: ZipEntry) => /^(?:[^/]+\/)?SKILL\.md$/.test(path);

function throwInvalidZip(err: unknown): never {
  if (!(err instanceof BadArchiveError)) throw err;
  if (err.code !== 'too_large') throw invalidZipError(err.message, err);
  throw new AppError('too_large', 'too_large', `bundle: SKILL.md is larger than ${BODY_BYTES_MAX} bytes`);
}

const invalidZipError = (why: string, cause?: unknown) =>
  new AppError('invalid', 'bad_zip', `bundle: the skill zip is not valid: ${why}`, {
    cause,
    fields: [{ path: 'bundle', message: why }],
  });
