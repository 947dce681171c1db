-- Where the code of a run ran: {"mode": "warm" | "fresh" | "process", "reason"?: why it can't be warm}.
ALTER TABLE runs ADD COLUMN sandbox json;
