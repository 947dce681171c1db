import {
  buildNextHeaders,
  type Call,
  created,
  noContent,
  type Operations,
  ok,
  parsePageCursor,
  respondWith,
  respondWithCountedPage,
} from '@gantry/http';
import { getVisibleWorker } from '../workers/worker-repository';
import { alertToApi } from './alert';
import type { AlertDeps } from './alert-deps';
import { getAlert, listAlerts } from './alert-repository';
import { type AlertWithSecret, createAlert, editAlert, removeAlert } from './alert-service';
import { deliveryToApi } from './delivery';
import { listDeliveries } from './delivery-repository';
import { replayDeadDeliveries, replayDelivery } from './delivery-service';
import { testAlert } from './test-alert';

type AlertRequest = Pick<Call<{ alert_id: string }>, 'caller' | 'path'>;

export function createAlertOperations(deps: AlertDeps): Operations<'worker'> {
  const { prisma, deliveryLoop } = deps;
  const getVisibleAlert = ({ caller }: Pick<Call, 'caller'>, id: string) =>
    getAlert(prisma, caller.workspaceId, caller, id);
  const getRequestedAlert = ({ caller, path }: AlertRequest) => getVisibleAlert({ caller }, path.alert_id);
  const toAlertResponse = ({ caller }: Pick<Call, 'caller'>, { alert, secret }: AlertWithSecret) => ({
    ...alertToApi(alert, caller),
    ...(secret !== null && { secret }),
  });
  const listAlertPage = async (
    call: Call<unknown, { limit: number; offset: number }>,
    filter: { workerId?: string | undefined; automationId?: string | undefined },
  ) => {
    const { caller, query } = call;
    const { alerts, total } = await listAlerts(prisma, caller.workspaceId, caller, filter, query);
    return respondWithCountedPage(call, alerts, total, (alert) => alertToApi(alert, caller));
  };
  return {
    listWorkerAlerts: async (call) => {
      const { id } = await getVisibleWorker(prisma, call.caller, call.path.worker_id);
      return listAlertPage(call, { workerId: id });
    },
    createWorkerAlert: {
      create: async (call) => {
        const input = { ...call.body, worker_id: call.path.worker_id };
        return created(toAlertResponse(call, await createAlert(deps, call, input)));
      },
      assertVisible: getVisibleAlert,
    },
    listAlerts: async (call) => {
      const { worker_id: workerId, automation_id: automationId } = call.query;
      if (workerId !== undefined) await getVisibleWorker(prisma, call.caller, workerId);
      return listAlertPage(call, { workerId, automationId });
    },
    createAlert: {
      create: async (call) => created(toAlertResponse(call, await createAlert(deps, call, call.body))),
      assertVisible: getVisibleAlert,
    },
    getAlert: async (call) => ok(alertToApi(await getRequestedAlert(call), call.caller)),
    updateAlert: async (call) => ok(toAlertResponse(call, await editAlert(deps, call, call.path.alert_id, call.body))),
    deleteAlert: async (call) => removeAlert(deps, call, call.path.alert_id).then(noContent),
    testAlert: async (call) => ok(await testAlert(deps, await getRequestedAlert(call))),
    listAlertDeliveries: async (call) => {
      const { req, query } = call;
      const { id, workspaceId } = await getRequestedAlert(call);
      const { limit } = query;
      const request = { ...query, limit: limit + 1 };
      const found = await listDeliveries(prisma, workspaceId, id, request, parsePageCursor(query));
      const page = found.slice(0, limit);
      return ok(page.map(deliveryToApi), buildNextHeaders(req, found.length > limit ? page.at(-1) : null));
    },
    replayAlertDelivery: async (call) => {
      const delivery = await replayDelivery(deps, call.actor, await getRequestedAlert(call), call.path.delivery_id);
      deliveryLoop.kick();
      return respondWith(202, deliveryToApi(delivery));
    },
    replayDeadAlertDeliveries: async (call) => {
      const replayed = await replayDeadDeliveries(deps, call.actor, await getRequestedAlert(call));
      deliveryLoop.kick();
      return respondWith(202, replayed);
    },
  };
}
