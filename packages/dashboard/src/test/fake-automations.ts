/** Fakes the list and the settings of automations. */
import type { AutomationSchemas } from '@gantry/sdk';

type Page = AutomationSchemas['Page'];

export type FakeSchedule = AutomationSchemas['Scheduling'] & { schedule: string | null };

interface FakeAutomations {
  versions: AutomationSchemas['Version'][];
  pages: Map<string, Page>;
  schedules: Map<string, FakeSchedule>;
  runs: Pick<AutomationSchemas['Run'], 'automationId' | 'status' | 'createdAt'>[];
}

const NO_SCHEDULE: FakeSchedule = {
  schedule: null,
  enabled: false,
  timezone: 'UTC',
  misfire: 'fire_once',
  inputs: {},
  nextRunAt: null,
  lastScheduledAt: null,
  missedFires: 0,
};

const getSchedule = (api: FakeAutomations, id: string): FakeSchedule => api.schedules.get(id) ?? NO_SCHEDULE;

const summarize = ({ id, name, description, status, currentVersion, url, visibility }: Page) => ({
  id,
  name,
  description,
  status,
  currentVersion,
  url,
  visibility,
});

export function listAutomations(api: FakeAutomations, url: URL): AutomationSchemas['AutomationItem'][] {
  const q = url.searchParams.get('q')?.toLowerCase() ?? '';
  const requestedStatus = url.searchParams.get('status');
  return [...api.pages.values()]
    .filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(q))
    .filter(({ status }) => (requestedStatus ? status === requestedStatus : status !== 'archived'))
    .map((page) => {
      const last = api.runs.find((run) => run.automationId === page.id);
      const { schedule, enabled, nextRunAt } = getSchedule(api, page.id);
      return {
        ...summarize(page),
        schedule,
        scheduleEnabled: enabled,
        nextRunAt,
        createdAt: Date.now(),
        lastRunStatus: last?.status ?? null,
        lastRunAt: last?.createdAt ?? null,
      };
    });
}

export function toAutomation(api: FakeAutomations, page: Page): AutomationSchemas['Automation'] {
  const { id, name, status, inputs, outputs } = page;
  const { schedule, ...scheduling } = getSchedule(api, id);
  return {
    ...summarize(page),
    schedule,
    entrypoint: 'main.py',
    fileList: [],
    fileCount: 1,
    totalSize: 1_024,
    artifactId: api.versions.find(({ current }) => current)?.artifactId ?? 'art_1',
    manifest: { name, inputs, outputs },
    scheduling: { ...scheduling, nextRunAt: status === 'active' && scheduling.enabled ? scheduling.nextRunAt : null },
    updatedAt: Date.now(),
  };
}

export function changeAutomation(
  api: FakeAutomations,
  page: Page,
  change: AutomationSchemas['AutomationChange'],
): void {
  const { schedule, scheduleEnabled, scheduleInputs, timezone, misfire, ...rest } = change;
  Object.assign(page, rest, { canRun: (rest.status ?? page.status) === 'active' });
  const before = getSchedule(api, page.id);
  api.schedules.set(page.id, {
    ...before,
    schedule: schedule === undefined ? before.schedule : schedule,
    enabled: scheduleEnabled ?? before.enabled,
    inputs: scheduleInputs ?? before.inputs,
    timezone: timezone ?? before.timezone,
    misfire: misfire ?? before.misfire,
  });
}

const HOUR_MS = 3_600_000;

export const buildNextFires = (): { fires: string[] } => ({
  fires: [1, 2, 3, 4, 5].map((day) => new Date(Date.now() + day * 24 * HOUR_MS).toISOString()),
});
