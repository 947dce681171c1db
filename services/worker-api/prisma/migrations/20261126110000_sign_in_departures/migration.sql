-- The authorization server that a browser left for: the answer is taken from it alone.
ALTER TABLE "connection_departures" ADD COLUMN     "authorization" JSONB;
