-- The pack of a draft is named by no version: it stays until the test run that runs it has ended.
ALTER TABLE pack_intents ADD COLUMN run_id text;
