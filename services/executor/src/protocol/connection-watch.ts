import type { Bus } from '@gantry/events';

export interface ConnectionWatch {
  isUp(): boolean;
  stop(): void;
}

export function watchConnection(bus: Bus): ConnectionWatch {
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
    isUp: () => up,
    stop: () => {
      watching = false;
    },
  };
}
