import { type Operations, ok, respondWithPage, toApiFields } from '@gantry/http';
import { listModelUsage, loadBudgetUsage, toMonth } from './model-call-repository';
import type { ModelDeps } from './model-deps';
import { modelToApi } from './model-registry';

export const createModelOperations = ({
  pool,
  models,
  now,
}: Pick<ModelDeps, 'pool' | 'models' | 'now'>): Operations<'worker'> => ({
  listModels: async (call) => {
    const { list, first } = await models.forWorkspace(call.caller.workspaceId);
    return respondWithPage(call, list, (model) => modelToApi(model, model === first, now()));
  },
  getModelUsage: async ({ caller: { workspaceId }, query }) => {
    const month = toMonth(query.month === undefined ? now() : new Date(`${query.month}-01T00:00:00Z`));
    const [rows, standing] = await Promise.all([
      listModelUsage(pool, workspaceId, month),
      loadBudgetUsage(pool, workspaceId, month),
    ]);
    return ok({
      month: month.from.toISOString().slice(0, 7),
      ...toApiFields(standing, 'usd', 'budgetUsd', 'reservedUsd'),
      calls: rows.reduce((sum, { calls }) => sum + calls, 0),
      unpriced_calls: rows.reduce((sum, row) => sum + row.unpriced_calls, 0),
      models: rows.map(({ unpriced_calls: _, ...row }) => row),
    });
  },
});
