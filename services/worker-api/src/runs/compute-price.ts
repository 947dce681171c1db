/** Prices processor time: an estimate for budgets, since only the operator knows the bill. */
const HOUR_MS = 3_600_000;

/** @param usdPerCpuHour 0 disables it: then only what code reports with context.cost() counts */
export const createPriceCalculator =
  (usdPerCpuHour: number) =>
  ({ cpuMs }: { cpuMs: number }): number =>
    (cpuMs / HOUR_MS) * usdPerCpuHour;
