import type { Bus } from '@gantry/events';

export function watchConnection(bus: Bus) {
  let up = true;
  let watching = true;
  void (async () => {
    for await (const { type } of bus.nc.status()) {
      if (!watching) return;
      if (type === 'disconnect') up = false;
      if (type === 'reconnect') up = true;
    }
  })();
  return {
    isUp: (): boolean => up,
    stop: () => {
      watching = false;
    },
  };
}
