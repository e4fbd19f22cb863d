/**
 * The tables beside those of pg-boss, one text for each version of them. A version that was released is never changed; what
 * it made goes on working with the version before it and the one after it, so that nodes can be updated one by one.
 *
 * `xid` is the transaction that wrote a row last: what is not below the oldest transaction of an earlier look may be new.
 */
export const versions: readonly string[] = [
  `
  CREATE SEQUENCE @positions;
  CREATE SEQUENCE @changes;
  CREATE TABLE @sessions (
    key text PRIMARY KEY,
    seq bigint NOT NULL,
    time bigint NOT NULL,
    before bigint NOT NULL DEFAULT 0,
    deleted bigint NOT NULL DEFAULT 0,
    xid xid8 NOT NULL
  );
  CREATE INDEX sessions_changed ON @sessions (xid);
  CREATE TABLE @events (
    session text NOT NULL,
    seq bigint NOT NULL,
    id text NOT NULL,
    type text NOT NULL,
    time bigint NOT NULL,
    dropped bigint,
    body text NOT NULL,
    xid xid8 NOT NULL,
    PRIMARY KEY (session, seq),
    CONSTRAINT events_once UNIQUE (session, id)
  );
  CREATE INDEX events_of_ledger ON @events (session, seq) WHERE type IN ('user_message_queued',
    'turn_execution_complete', 'turn_execution_failed', 'turn_execution_cancelled', 'error_occurred',
    'outbound_delivery_changed');
  CREATE TABLE @work (
    job uuid PRIMARY KEY,
    id text NOT NULL UNIQUE,
    queue text NOT NULL,
    key text NOT NULL,
    session text NOT NULL,
    dedup text,
    body text NOT NULL,
    bytes integer NOT NULL,
    accepted_at bigint NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    points integer NOT NULL DEFAULT 0,
    node text,
    began_at timestamptz,
    not_before timestamptz
  );
  CREATE INDEX work_of_lane ON @work (queue, key, job) INCLUDE (bytes);
  CREATE INDEX work_of_session ON @work (session);
  CREATE TABLE @seen (id text PRIMARY KEY, until timestamptz NOT NULL);
  CREATE INDEX seen_until ON @seen (until);
  CREATE TABLE @dead (
    position bigint PRIMARY KEY DEFAULT nextval('@positions'),
    id text NOT NULL UNIQUE,
    queue text NOT NULL,
    key text NOT NULL,
    session text NOT NULL,
    dedup text,
    body text NOT NULL,
    accepted_at bigint NOT NULL,
    attempts integer NOT NULL,
    reason text NOT NULL,
    buried_at bigint NOT NULL
  );
  CREATE INDEX dead_of_session ON @dead (session);
  CREATE TABLE @cursors (name text PRIMARY KEY, value text NOT NULL);
  CREATE TABLE @records (
    kind text NOT NULL,
    id text NOT NULL,
    value text,
    version bigint NOT NULL DEFAULT nextval('@changes'),
    position bigint NOT NULL DEFAULT nextval('@positions'),
    changed timestamptz NOT NULL DEFAULT now(),
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX records_changed ON @records (xid);
  CREATE TABLE @leases (name text PRIMARY KEY, holder text, epoch bigint NOT NULL, until timestamptz NOT NULL);
  CREATE TABLE @nodes (id text PRIMARY KEY, since timestamptz NOT NULL, seen timestamptz NOT NULL);
  `,
  `
  ALTER TABLE @cluster ADD COLUMN moving text;
  `,
];
