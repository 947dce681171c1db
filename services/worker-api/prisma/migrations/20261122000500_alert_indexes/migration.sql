-- Which alerts hear of an event, and the next delivery of each alert, without reading what other alerts have waiting.
CREATE INDEX "alerts_workspace_id_worker_uid_automation_id_idx" ON "alerts"("workspace_id", "worker_uid", "automation_id");
CREATE INDEX "alert_deliveries_status_alert_id_next_attempt_at_idx" ON "alert_deliveries"("status", "alert_id", "next_attempt_at");
CREATE INDEX "alert_deliveries_ended_at_idx" ON "alert_deliveries"("ended_at");
