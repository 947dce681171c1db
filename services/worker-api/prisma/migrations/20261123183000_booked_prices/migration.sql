-- The price that held when a call of a model began. Rows that are there have none.
ALTER TABLE "model_calls" ADD COLUMN "price" JSONB;
