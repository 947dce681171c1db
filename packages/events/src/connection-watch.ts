import { Events, type NatsConnection } from 'nats';

/** @param onChange called when the connection is lost, and when it is restored */
export function watchConnection(nc: NatsConnection, onChange: (isUp: boolean) => void = () => {}) {
  let up = true;
  let watching = true;
  void (async () => {
    for await (const { type } of nc.status()) {
      if (!watching) return;
      if (type !== Events.Disconnect && type !== Events.Reconnect) continue;
      up = type === Events.Reconnect;
      onChange(up);
    }
  })();
  return {
    isUp: (): boolean => up,
    stop: () => {
      watching = false;
    },
  };
}
