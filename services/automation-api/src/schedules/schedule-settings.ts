/** The schedule of an automation. */
import { type FieldProblem, invalid, runChecks } from '@gantry/errors';
import type { OperationCall } from '@gantry/http';
import { checkSchedule, findNextFire } from '@gantry/schedule';
import type { Runnable } from '../artifacts/runnable';
import type { Automation, Prisma } from '../generated/prisma/client';

/** The schedule fields of deploy and PATCH; absent fields stay unchanged. */
export type ScheduleChange = Pick<
  OperationCall<'automation', 'patchAutomation'>['body'],
  'schedule' | 'timezone' | 'scheduleEnabled' | 'scheduleInputs' | 'misfire'
>;

type ScheduleState = Pick<
  Automation,
  'schedule' | 'timezone' | 'scheduleEnabled' | 'scheduleInputs' | 'misfire' | 'status' | 'nextRunAt'
>;

export const NO_SCHEDULE: ScheduleState = {
  schedule: null,
  timezone: 'UTC',
  scheduleEnabled: false,
  scheduleInputs: {},
  misfire: 'fire_once',
  status: 'active',
  nextRunAt: null,
};

/**
 * Returns the columns after a change. A first schedule is enabled unless `scheduleEnabled` says otherwise; later
 * schedules keep that setting. While it is disabled or the automation is not active, nothing is due and no fire counts
 * as missed.
 * @throws AppError 400 naming the field: bad cron or zone, inputs that a run would refuse
 */
export function applyScheduleInput(
  before: ScheduleState,
  change: ScheduleChange & { status?: Automation['status'] },
  runnable: Runnable,
  now: Date,
) {
  const schedule = change.schedule === undefined ? before.schedule : change.schedule;
  const timezone = change.timezone ?? before.timezone;
  const status = change.status ?? before.status;
  const misfire = change.misfire ?? before.misfire;
  const inputs = change.scheduleInputs ?? (before.scheduleInputs as Record<string, unknown>);
  const shouldEnable =
    change.scheduleEnabled ?? (before.scheduleEnabled || (before.schedule === null && !!change.schedule));
  const scheduleEnabled = shouldEnable && schedule !== null;
  const isTouched = change.schedule !== undefined || change.scheduleEnabled || change.scheduleInputs !== undefined;
  runChecks(
    () => assertHasSchedule(change.scheduleEnabled, schedule),
    () => checkScheduleFields({ schedule, timezone }),
    () => change.scheduleInputs && assertInputsSize(change.scheduleInputs),
    () => isTouched && scheduleEnabled && checkInputs(runnable, inputs),
  );
  const isDue = scheduleEnabled && status === 'active' && schedule !== null;
  const isSame =
    before.nextRunAt !== null && schedule === before.schedule && timezone === before.timezone && before.scheduleEnabled;
  return {
    schedule,
    timezone,
    misfire,
    scheduleEnabled,
    scheduleInputs: inputs as Prisma.InputJsonObject,
    nextRunAt: isDue ? (isSame ? before.nextRunAt : findNextFire({ cron: schedule, timezone }, now)) : null,
  };
}

/** Replaces a missing expression, so that the time zone is still checked. */
const ANY_CRON = '0 0 * * *';

/** Checks a schedule without its automation. @throws AppError 400 */
export function checkScheduleFields({
  schedule,
  timezone = 'UTC',
}: {
  schedule?: string | null;
  timezone?: string;
}): void {
  checkSchedule({ cron: schedule ?? ANY_CRON, timezone }, { cron: 'schedule', timezone: 'timezone' });
}

function assertHasSchedule(isEnabled: boolean | undefined, schedule: string | null): void {
  if (!isEnabled || schedule !== null) return;
  const message = 'there is no schedule to enable; set a schedule first';
  throw invalid([{ path: 'scheduleEnabled', message }], 'bad_schedule');
}

/** Prisma blocks the event loop for a microsecond per part of a JSON value. */
const INPUTS_CHARS_MAX = 64 * 1024;

function assertInputsSize(inputs: Record<string, unknown>): void {
  const { length } = JSON.stringify(inputs);
  if (length <= INPUTS_CHARS_MAX) return;
  throw invalid([{ path: 'scheduleInputs', message: `must be at most ${INPUTS_CHARS_MAX} characters long as JSON` }]);
}

function checkInputs(runnable: Runnable, inputs: Record<string, unknown>): void {
  const problems = listScheduleInputProblems(runnable, inputs);
  if (problems.length) throw invalid(problems, 'invalid_inputs');
}

/** Lists the reasons why a scheduled run with these inputs would fail. */
export function listScheduleInputProblems(runnable: Runnable, inputs: Record<string, unknown>): FieldProblem[] {
  const files = runnable.manifest.inputs.filter(({ name, type }) => type === 'file' && name in inputs);
  if (files.length) {
    return files.map(({ name }) => ({ path: `scheduleInputs.${name}`, message: 'a schedule cannot include files' }));
  }
  return runnable.inputs.listProblems(inputs).map(({ path, message }) => ({
    path: path.replace(/^inputs/, 'scheduleInputs'),
    message,
  }));
}
