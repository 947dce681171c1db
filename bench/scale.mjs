/**
 * Machines for a rate of runs, from what one run was measured to cost (measured.json):   node bench/scale.mjs
 *
 * Prints the tables of docs/operations/scaling.md. A run visits each part in turn; a part is a number of threads that serve in
 * order of arrival. Nothing depends on this machine: the random numbers have a seed.
 */
import { readFileSync } from 'node:fs';

const measured = JSON.parse(readFileSync(new URL('measured.json', import.meta.url), 'utf8'));
const { cpuMsPerRun: cpu } = measured;
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** Cores are shared with the kernel, with timers and with sweeps: a share of them does runs. */
const efficiency = (measured.runsPerSecond * sum(Object.values(cpu))) / 1_000 / measured.cores;
/** Of that, what a part is planned to use: see the second table. */
const UTILISATION = 0.6;
const DAYS = { rows: 90, events: 37, objects: 90 };

/** `threads`: what one instance can use. A Node.js process computes on one; one stream of JetStream is written by one. */
const parts = [
  { name: 'gateway', ms: cpu.nginx, threads: 4, more: 'replicas' },
  { name: 'API of the run', ms: cpu['automation-api'], threads: 1, more: 'replicas' },
  { name: 'other APIs', ms: cpu['worker-api'] + cpu['skills-api'], threads: 1, more: 'replicas' },
  { name: 'executor of 8 cores', ms: cpu.executor + cpu.sandbox, threads: 8, more: 'replicas' },
  { name: 'NATS, one stream of run events', ms: cpu.nats, threads: 1, more: 'cells' },
  { name: 'PostgreSQL of 4 cores', ms: cpu.postgres, threads: 4, more: 'cells' },
];
const capacityOf = ({ ms, threads }) => (threads * efficiency * UTILISATION * 1_000) / ms;

function randomly(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Milliseconds that runs waited in queues, sorted: arrivals at random, through all parts of one cell. */
function waits(utilisation, runs = 40_000) {
  const random = randomly(1);
  const rate = 300;
  const stations = parts.map(({ ms }) => {
    const servers = Math.max(1, Math.ceil((rate * ms) / 1_000 / utilisation));
    // The same load for each part, however its number of servers was rounded.
    return { mean: (servers * utilisation * 1_000) / rate, free: new Array(servers).fill(0) };
  });
  let clock = 0;
  const jobs = Array.from({ length: runs }, () => {
    clock -= (Math.log(1 - random()) * 1_000) / rate;
    return { at: clock, waited: 0 };
  });
  for (const { mean, free } of stations) {
    jobs.sort((a, b) => a.at - b.at);
    for (const job of jobs) {
      const server = free.indexOf(Math.min(...free));
      const begins = Math.max(job.at, free[server]);
      job.waited += begins - job.at;
      // Between half and one and a half of the mean: CPU time varies less than arrivals do.
      job.at = begins + mean * (0.5 + random());
      free[server] = job.at;
    }
  }
  return jobs.map(({ waited }) => waited).sort((a, b) => a - b);
}

/** Load of the fullest cell as a multiple of the mean: 20,000 workspaces, of which few do most. */
function fullest(cells, place) {
  const loads = new Array(cells).fill(0);
  const random = randomly(2);
  for (let rank = 1; rank <= 20_000; rank += 1) loads[place(loads, random)] += rank ** -0.8;
  return (Math.max(...loads) * cells) / sum(loads);
}
const byHash = (loads, random) => Math.floor(random() * loads.length);
const byDirectory = (loads) => loads.indexOf(Math.min(...loads));

const round = (number, digits = 1) => Number(number.toFixed(digits)).toLocaleString('en-GB');
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const gigabytes = (rate) =>
  (sum(Object.entries(DAYS).map(([what, days]) => measured.bytesPerRun[what] * days)) * rate * 86_400) / 1e9;

const cellCapacity = Math.min(...parts.filter(({ more }) => more === 'cells').map(capacityOf));
const plan = (rate) => {
  const cells = Math.max(1, Math.ceil(rate / cellCapacity));
  return [cells, ...parts.map((part) => (part.more === 'cells' ? cells : Math.ceil(rate / capacityOf(part))))];
};
const filling = [...parts].sort((a, b) => capacityOf(a) - capacityOf(b));
const [half, ninetyNine] = [0.5, 0.99];

console.log(
  [
    `Model: ${round((1_000 * measured.cores) / sum(Object.values(cpu)))} runs/s on ${measured.cores} cores; measured: ${measured.runsPerSecond}. So ${round(efficiency * 100, 0)}% of a core does runs, and ${UTILISATION * 100}% of that is planned.`,
    table(
      ['Part, in the order in which it fills', 'CPU ms per run', 'Runs/s of one', 'Then'],
      filling.map((part) => [part.name, round(part.ms, 2), round(capacityOf(part), 0), `more ${part.more}`]),
    ),
    table(
      ['Utilisation of every part', 'Wait in queues, p50 ms', 'p99 ms'],
      [0.5, 0.6, 0.7, 0.8, 0.9].map((share) => {
        const sorted = waits(share);
        return [`${share * 100}%`, ...[half, ninetyNine].map((q) => round(sorted[Math.floor(sorted.length * q)]))];
      }),
    ),
    table(
      ['Runs/s', 'Cells', ...parts.map(({ name }) => name), 'GB kept'],
      [10, 100, 1_000, 10_000].map((rate) => [rate, ...plan(rate), gigabytes(rate)].map((number) => round(number, 0))),
    ),
    table(
      ['Cells', 'Fullest by hash of the workspace', 'Fullest by directory'],
      [4, 16, 32, 64].map((cells) => [
        cells,
        ...[byHash, byDirectory].map((place) => `${round(fullest(cells, place), 2)} of the mean`),
      ]),
    ),
  ].join('\n\n'),
);
