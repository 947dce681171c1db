/** Prometheus' text format, as our services write it. */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  name: string;
  type: string;
  help: string;
  samples: Sample[];
}

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parseExposition(text: string): Family[] {
  const families: Family[] = [];
  for (const line of text.split('\n').filter(Boolean)) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\w+) ?(.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') families.push({ name, help: rest, type: '', samples: [] });
    const family = families.at(-1);
    if (!family) throw new Error(`${line}: no # HELP before it`);
    if (keyword === 'TYPE') family.type = rest;
    if (keyword) continue;
    const [, sample = '', labels = '', value] = SAMPLE.exec(line) ?? [];
    if (!sample.startsWith(family.name)) throw new Error(`${line}: not a sample of ${family.name}`);
    family.samples.push({
      name: sample,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text])),
      value: Number(value),
    });
  }
  return families;
}

export const scrape = async (url: string): Promise<Family[]> => parseExposition(await (await fetch(url)).text());
