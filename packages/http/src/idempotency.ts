/**
 * `Idempotency-Key`: a creating request that is sent twice creates once and is answered the same both times.
 *
 * The key is taken before the handler runs and holds its answer afterwards. A process that dies in between leaves the
 * key taken; it is free again after LOCK_SECONDS. Answers of 5xx and 429 are not kept: the caller should try again.
 * An answer that holds a secret is never written down: asked again, the caller hears that it has been done. Where only some
 * answers of an operation do, its handler says so by `res.locals.holdsSecret`.
 */
import { createHash } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import type { Pool } from 'pg';
import { AppError } from './errors';
import { networkOf } from './rate-limit';

const LOCK_SECONDS = 90;
const KEPT_HOURS = 24;
const ALREADY_DONE =
  'this request has been carried out; what it made is in the list, but its secret was shown only in the first answer';
const KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

/**
 * @param keep `once`: that it was done, and not what was answered
 * @param scopeOf among whose keys this one counts
 */
export function idempotency(
  pool: Pool,
  keep: true | 'once' = true,
  scopeOf: (req: Request) => string = callerScope,
): RequestHandler {
  return async (req, res, next) => {
    const key = req.get('Idempotency-Key');
    if (key === undefined) return next();
    if (!KEY_SHAPE.test(key)) {
      return next(
        new AppError('invalid', 'invalid_idempotency_key', 'Idempotency-Key: 1 to 255 visible ASCII characters'),
      );
    }
    const scope = scopeOf(req);
    const hash = requestHash(req);
    const taken = await pool.query(
      `INSERT INTO idempotency_keys (workspace_id, key, request_hash, locked_until)
       VALUES ($1, $2, $3, now() + make_interval(secs => $4))
       ON CONFLICT (workspace_id, key) DO UPDATE SET request_hash = $3, locked_until = now() + make_interval(secs => $4),
         response_status = NULL, response_body = NULL, created_at = now()
       WHERE idempotency_keys.created_at < now() - make_interval(hours => $5)
          OR (idempotency_keys.response_status IS NULL AND idempotency_keys.locked_until < now())
       RETURNING 1`,
      [scope, key, hash, LOCK_SECONDS, KEPT_HOURS],
    );
    if (!taken.rowCount) {
      const { rows } = await pool.query(
        'SELECT request_hash, response_status, response_body FROM idempotency_keys WHERE workspace_id = $1 AND key = $2',
        [scope, key],
      );
      const [stored] = rows;
      if (stored && stored.request_hash !== hash) {
        throw new AppError('mismatch', 'idempotency_mismatch', 'this Idempotency-Key was used with another request');
      }
      if (!stored?.response_status) {
        throw new AppError('conflict', 'in_flight', 'a request with this Idempotency-Key is still under way');
      }
      if (stored.response_status < 400 && stored.response_body === null) {
        throw new AppError('conflict', 'already_done', ALREADY_DONE);
      }
      res.set('Idempotent-Replayed', 'true').status(stored.response_status).json(stored.response_body);
      return;
    }
    const json = res.json.bind(res);
    res.json = (body) => {
      const settled = res.statusCode < 500 && res.statusCode !== 429;
      const secret = (keep === 'once' || res.locals.holdsSecret === true) && res.statusCode < 400;
      const done = settled
        ? pool.query(
            'UPDATE idempotency_keys SET response_status = $3, response_body = $4::jsonb WHERE workspace_id = $1 AND key = $2',
            [scope, key, res.statusCode, secret ? null : JSON.stringify(body)],
          )
        : pool.query('DELETE FROM idempotency_keys WHERE workspace_id = $1 AND key = $2', [scope, key]);
      // Answer even if the key can't be stored: what was asked for has happened.
      done.catch((err) => req.log.error({ err }, 'idempotency key not stored')).finally(() => json(body));
      return res;
    };
    next();
  };
}

const callerScope = (req: Request): string => req.principal?.workspaceId ?? `address:${networkOf(req.ip ?? 'unknown')}`;

/** Of what the caller sent; uploaded files count with their bytes. */
function requestHash(req: Request): string {
  const hash = createHash('sha256').update(`${req.method} ${req.path}\n${JSON.stringify(req.body ?? null)}`);
  const files: Express.Multer.File[] = Array.isArray(req.files) ? req.files : [];
  for (const { fieldname, buffer } of files) hash.update(`\n${fieldname}:${buffer.length}\n`).update(buffer);
  return hash.digest('hex');
}

/** Removes keys past their time. Call now and then; one replica doing it is enough, several do no harm. */
export async function sweepIdempotencyKeys(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    'DELETE FROM idempotency_keys WHERE created_at < now() - make_interval(hours => $1)',
    [KEPT_HOURS],
  );
  return rowCount ?? 0;
}
