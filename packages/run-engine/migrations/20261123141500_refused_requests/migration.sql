-- When a request of the run was first refused by a rule for the network: whoever sets it announces it, once for each run.
ALTER TABLE runs ADD COLUMN request_refused_at timestamptz(3);
