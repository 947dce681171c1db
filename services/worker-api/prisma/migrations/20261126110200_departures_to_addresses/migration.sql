-- The addresses that a browser left for: a code goes to no others.
ALTER TABLE "connection_departures" ADD COLUMN     "address_digest" TEXT;
