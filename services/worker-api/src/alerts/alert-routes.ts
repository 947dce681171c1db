import { actorOf, callerOf, creating, linkNextOffset, madeBy, type Operations, type Revisit } from '@gantry/http';
import type { Request, Response } from 'express';
import type { Deps } from '../deps';
import type { DeliveryStatus } from '../generated/prisma/client';
import { cursorOf, linkNext } from '../page-cursor';
import { getVisibleWorker } from '../workers/worker-repository';
import { alertToApi } from './alert';
import { getAlert, listAlerts } from './alert-repository';
import { type ChangedAlert, createAlert, editAlert, removeAlert } from './alert-service';
import { deliveryToApi } from './delivery';
import { listDeliveries } from './delivery-repository';
import { replayDeadDeliveries, replayDelivery } from './delivery-service';
import { testAlert } from './test-alert';

interface ListQuery {
  worker_id?: string;
  automation_id?: string;
  limit: number;
  offset: number;
}

export function alertOperations(deps: Deps): Operations {
  const { prisma, deliveryLoop } = deps;
  const alertOf = (req: Request) => getAlert(prisma, callerOf(req).workspaceId, callerOf(req), idOf(req));
  const changed = (req: Request, { alert, secret }: ChangedAlert) => ({
    ...alertToApi(alert, callerOf(req)),
    ...(secret !== null && { secret }),
  });
  const list = async (
    req: Request,
    res: Response,
    filter: { workerId?: string | undefined; automationId?: string | undefined },
  ) => {
    const caller = callerOf(req);
    const { limit, offset } = req.query as unknown as ListQuery;
    const { alerts, total } = await listAlerts(prisma, caller.workspaceId, caller, filter, { limit, offset });
    linkNextOffset(req, res, { limit, offset }, total);
    res.json(alerts.map((alert) => alertToApi(alert, caller)));
  };
  const created: Revisit = { see: (req, id) => getAlert(prisma, callerOf(req).workspaceId, callerOf(req), id) };
  return {
    listWorkerAlerts: async (req, res) => {
      const { id } = await getVisibleWorker(prisma, callerOf(req), String(req.params.worker_id));
      await list(req, res, { workerId: id });
    },
    createWorkerAlert: creating(async (req, res) => {
      const input = { ...req.body, worker_id: String(req.params.worker_id) };
      res.status(201).json(changed(req, await createAlert(deps, callerOf(req), actorOf(req), madeBy(req), input)));
    }, created),
    listAlerts: async (req, res) => {
      const { worker_id: workerId, automation_id: automationId } = req.query as unknown as ListQuery;
      if (workerId !== undefined) await getVisibleWorker(prisma, callerOf(req), workerId);
      await list(req, res, { workerId, automationId });
    },
    createAlert: creating(async (req, res) => {
      res.status(201).json(changed(req, await createAlert(deps, callerOf(req), actorOf(req), madeBy(req), req.body)));
    }, created),
    getAlert: async (req, res) => {
      res.json(alertToApi(await alertOf(req), callerOf(req)));
    },
    updateAlert: async (req, res) => {
      res.json(changed(req, await editAlert(deps, callerOf(req), actorOf(req), idOf(req), req.body)));
    },
    deleteAlert: async (req, res) => {
      await removeAlert(deps, callerOf(req), actorOf(req), idOf(req));
      res.status(204).end();
    },
    testAlert: async (req, res) => {
      res.json(await testAlert(deps, await alertOf(req)));
    },
    listAlertDeliveries: async (req, res) => {
      const { id, workspaceId } = await alertOf(req);
      const { status, limit } = req.query as unknown as { status?: DeliveryStatus; limit: number };
      const page = { limit: limit + 1, after: cursorOf(req) };
      const deliveries = await listDeliveries(prisma, workspaceId, id, { status }, page);
      res.json(linkNext(req, res, deliveries, limit).map(deliveryToApi));
    },
    replayAlertDelivery: async (req, res) => {
      const delivery = await replayDelivery(deps, actorOf(req), await alertOf(req), String(req.params.delivery_id));
      deliveryLoop.kick();
      res.status(202).json(deliveryToApi(delivery));
    },
    replayDeadAlertDeliveries: async (req, res) => {
      const answer = await replayDeadDeliveries(deps, actorOf(req), await alertOf(req));
      deliveryLoop.kick();
      res.status(202).json(answer);
    },
  };
}

const idOf = (req: Request): string => String(req.params.alert_id);
