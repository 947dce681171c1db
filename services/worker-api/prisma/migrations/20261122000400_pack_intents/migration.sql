-- Packs that are about to be put into the object store. Where no version names the pack an hour later, nobody ever will:
-- what it was put for was refused, or its process died in between.
CREATE TABLE pack_intents (
  key        text PRIMARY KEY,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX pack_intents_by_age ON pack_intents (created_at);
