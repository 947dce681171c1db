-- The list without a status, newest first.
CREATE INDEX "approvals_workspace_id_requested_at_id_idx" ON "approvals"("workspace_id", "requested_at" DESC, "id" DESC);
