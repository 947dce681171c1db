/**
 * What 100,000 skills cost beside 1,000:   node bench/skills.mjs [--skills 100000 --reads 300]
 *
 * Starts a platform of its own and fills its database with SQL, in two steps, so that both sizes are measured in one run on
 * the same process. Half of the skills belong to the caller, one in ten is public, texts are 1 to 4 KB of varied words.
 */
import { createClient } from './measure/client.mjs';
import { connectDatabase } from './measure/database.mjs';
import { parseOptions } from './measure/options.mjs';
import { startPlatform } from './measure/platform.mjs';
import { median, printLatencies, round, timeInterleaved } from './measure/stats.mjs';

const options = parseOptions({ skills: 100_000, reads: 300 });
const SMALL = 1_000;
const WARM_UP_READS = 5;

const platform = await startPlatform();
let database;
try {
  database = await connectDatabase(platform, 'skills_api');
  const { skills_url: url, token } = platform.local;
  const call = createClient(token);
  const { id: userId, workspace_id: workspaceId } = await call('GET', `${url}/api/me`);
  await call('POST', `${url}/api/v1/skills`, { title: 'The first', body_md: 'It makes its owner known.' });
  const sizes = [];
  let seeded = 0;
  for (const size of [SMALL, options.skills]) {
    await seed(seeded, size, userId, workspaceId);
    seeded = size;
    sizes.push(await measure(call, url, size));
  }
  const [small, large] = sizes;
  console.log(`\nRatio of the medians, ${options.skills} skills / ${SMALL}`);
  console.table(
    Object.fromEntries(Object.keys(small).map((name) => [name, round(median(large[name]) / median(small[name]))])),
  );
} finally {
  await database?.end();
  await platform.stop();
}

async function seed(from, to, userId, workspaceId) {
  const began = performance.now();
  await database.query("INSERT INTO people VALUES ('usr_bench', 'Bench') ON CONFLICT DO NOTHING");
  await database.query(
    `INSERT INTO skills (id, slug, workspace_id, owner_id, title, description, body_md, visibility, content_hash, skill_md_digest, tags, created_at, updated_at)
     SELECT 'skl_bench' || n, 'bench-skill-' || n, CASE WHEN n % 2 = 0 THEN $3 ELSE 'ws_bench' END,
       CASE WHEN n % 2 = 0 THEN $4 ELSE 'usr_bench' END,
       initcap(w(n, 1)) || ' the ' || w(n, 2) || ' of ' || w(n, 3) || ' ' || n, 'How to ' || w(n, 4) || ' with ' || w(n, 5),
       (SELECT string_agg(w(n, k), ' ') FROM generate_series(6, 130 + n % 350) k),
       (CASE WHEN n % 10 = 0 THEN 'public' WHEN n % 10 < 5 THEN 'unlisted' ELSE 'private' END)::visibility,
       md5(n::text), repeat(md5(n::text), 2), ARRAY[w(n, 7), w(n, 8)],
       now() - make_interval(secs => 200000 - n), now()
     FROM generate_series($1::int, $2::int) n`.replaceAll(
      /w\(n, (\w+)\)/g,
      "('word' || substr(md5((n % 977 + $1 * 31)::text), 1, 2) || substr(md5((n * $1)::text), 1, 1))",
    ),
    [from + 1, to, workspaceId, userId],
  );
  await database.query('VACUUM ANALYZE skills');
  console.log(`\nseeded up to ${to} skills in ${round((performance.now() - began) / 1000, 1)} s`);
}

async function measure(call, url, size) {
  const slug = (i) => `bench-skill-${(1 + ((i * 7919) % (size / 10 - 1))) * 10}`;
  const steps = {
    'fetch by slug (API)': (i) => call('GET', `${url}/api/v1/skills/${slug(i)}`),
    'my list, first page': () => call('GET', `${url}/api/v1/me/skills`),
    'search, one rare word': (i) => call('GET', `${url}/api/v1/search?q=${(i * 7919) % size}&limit=20`),
    'search, a word of many skills': (i) =>
      call('GET', `${url}/api/v1/search?q=word${'abcdef'[i % 6]}${i % 10}&limit=20`),
    'search, misspelt': (i) => call('GET', `${url}/api/v1/search?q=wrod${'abcdef'[i % 6]}${i % 10}x&limit=20`),
    'front page': () => page(`${url}/`),
    'a page (rendered before)': () => page(`${url}/s/bench-skill-10`),
  };
  await timeInterleaved(steps, WARM_UP_READS);
  const ms = await timeInterleaved(steps, options.reads);
  console.log(`\n${size} skills, one client, through the gateway, interleaved`);
  printLatencies(ms);
  return ms;
}

async function page(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  await answer.text();
}
