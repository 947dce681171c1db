/**
 * Takes the pictures of the README from a platform that runs here (`npm start`):
 *
 *   node packages/dashboard/take-screenshots.mjs [.data]
 *
 * It fills the workspace with some workers and runs first, so give it a new data directory
 * (`GANTRY_DATA_DIR=/tmp/pictures GANTRY_PORT=9080 npm start`). The pictures go to `docs/pictures`.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const data = process.argv[2] ?? '.data';
const folder = fileURLToPath(new URL('../../docs/pictures', import.meta.url));
const local = JSON.parse(readFileSync(path.join(data, 'local.json'), 'utf8'));
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const VIEW = { width: 1280, height: 800 };

const price = `import json


def run(shop, limit, context):
    offers = context.step("fetch", fetch, shop)
    print(f"{len(offers)} offers of {shop}")
    cheap = [offer for offer in offers if offer["price"] <= limit]
    context.log("compared", level="info", cheap=len(cheap))
    context.artifact("offers.json", json.dumps(offers, indent=2).encode())
    return {"cheap": cheap, "lowest": min(offer["price"] for offer in offers)}


def fetch(shop):
    names = ["lamp", "desk", "chair", "shelf"]
    return [{"name": name, "price": 12.5 + 7 * at} for at, name in enumerate(names)]
`;
const WORKERS = [
  {
    id: 'price-watch',
    name: 'Price watch',
    description: 'Tells which offers of a shop are below a limit.',
    tags: ['sales'],
    inputs: [
      { name: 'shop', label: 'Shop', type: 'text', default: 'north' },
      { name: 'limit', label: 'Limit', type: 'number', default: 20 },
    ],
    outputs: [
      { name: 'lowest', label: 'Lowest price', type: 'number' },
      { name: 'cheap', label: 'Below the limit', type: 'table' },
    ],
    triggers: [{ type: 'cron', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin' }],
    files: [{ path: 'main.py', content: price }],
  },
  {
    id: 'order-import',
    name: 'Order import',
    description: 'Takes orders from the shop.',
    triggers: [{ type: 'webhook' }],
    files: [
      {
        path: 'main.py',
        content:
          'def run(orders=3):\n    if orders > 7:\n        raise ValueError("order 8 has no customer")\n    return {"imported": orders}\n',
      },
    ],
    inputs: [{ name: 'orders', type: 'integer', default: 3 }],
  },
  {
    id: 'month-end',
    name: 'Month end',
    description: 'Closes the books, once an accountant has checked them.',
    triggers: [{ type: 'cron', cron: '0 18 28 * *', timezone: 'Europe/Berlin' }],
    files: [
      {
        path: 'main.py',
        content:
          'def run(context):\n    context.approve("Close the books of November?", data={"open invoices": 2})\n    return {"closed": True}\n',
      },
    ],
  },
];

async function call(method, at, body) {
  const response = await fetch(local.base_url + at, {
    method,
    headers: { Authorization: `Bearer ${local.token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${await response.text()}`);
  return response.json();
}

const start = (worker, inputs) => call('POST', `/api/workers/${worker}/runs`, { inputs, wait: 10 });

for (const worker of WORKERS) await call('POST', '/api/workers', worker);
for (let n = 0; n < 24; n++) await start('order-import', { orders: n % 9 });
let last;
for (let n = 0; n < 12; n++) last = await start('price-watch', { shop: n % 2 ? 'north' : 'south', limit: 15 + n });
await start('month-end', {});

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const context = await browser.newContext({ viewport: VIEW, locale: 'en-GB', reducedMotion: 'reduce' });
const page = await context.newPage();
await page.goto(`${local.dashboard_url}/sign-in`);
await page.getByLabel('Email').fill(local.email);
await page.getByLabel('Password', { exact: true }).fill(local.password);
await page.getByRole('button', { name: 'Sign in' }).click();
await page.getByRole('button', { name: 'Account', exact: true }).waitFor();

async function take(name, address) {
  await page.goto(local.dashboard_url + address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle').catch(() => undefined);
  // Plots are drawn a frame after their data.
  await sleep(1_000);
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
  console.log(path.join(folder, `${name}.png`));
}

await take('overview', '/');
await take('code', '/workers/price-watch/code');
await take('run', `/runs/${last.run_id}`);
await browser.close();
