/** What processor time counts as in money: an estimate for budgets, since only whoever runs the machines knows the bill. */
const HOUR_MS = 3_600_000;

/** @param usdPerCpuHour 0 switches it off: only what code reports with context.cost() counts then */
export const computePrice =
  (usdPerCpuHour: number) =>
  ({ cpuMs }: { cpuMs: number }): number =>
    (cpuMs / HOUR_MS) * usdPerCpuHour;
