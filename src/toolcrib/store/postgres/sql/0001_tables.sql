-- The tables of a shared store. Every table has its tenant first, and row security by it, but for
-- `embedding` (a vector depends on the model and the text alone, and is found by their hash) and
-- `key_version` (a count of changes, of whatever tenant).

-- A row is of the tenant that its transaction is for, and nobody says which.
CREATE DOMAIN tenant_id AS text COLLATE "C" NOT NULL DEFAULT current_setting('toolcrib.tenant');
-- A text that sorts by its bytes, as all do in SQLite.
CREATE DOMAIN bytewise AS text COLLATE "C";

-- One row a tenant. Whoever changes what replicas follow counts its generation on first, and so
-- waits for whoever did it before: generations are in the order of the commits, which numbers of a
-- sequence are not. `keys` and `decisions` are when those changed last.
CREATE TABLE tenant (
    tenant tenant_id PRIMARY KEY,
    generation bigint NOT NULL DEFAULT 1, keys bigint NOT NULL DEFAULT 0,
    decisions bigint NOT NULL DEFAULT 0
);

CREATE TABLE document (
    tenant tenant_id, name bytewise,
    content bytea NOT NULL, generation bigint NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- A listing that was forgotten stays as a row without a body: replicas have to hear of it.
CREATE TABLE listing (
    tenant tenant_id, server bytewise, config_hash bytewise,
    version text, fetched float8, start_s float8, body bytea, generation bigint NOT NULL,
    PRIMARY KEY (tenant, server, config_hash)
);
CREATE INDEX listing_generation ON listing (tenant, generation);

CREATE TABLE listing_failure (
    tenant tenant_id, server bytewise, config_hash bytewise,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, server, config_hash)
);

CREATE TABLE pack (
    tenant tenant_id, name bytewise,
    fingerprint text NOT NULL, generation bigint NOT NULL, parts int NOT NULL,
    PRIMARY KEY (tenant, name)
);
CREATE TABLE pack_part (
    tenant tenant_id, name bytewise, number int, body bytea NOT NULL,
    PRIMARY KEY (tenant, name, number),
    FOREIGN KEY (tenant, name) REFERENCES pack ON DELETE CASCADE
);
ALTER TABLE pack_part ALTER body SET STORAGE EXTERNAL;

CREATE TABLE decision (
    tenant tenant_id, source bytewise, name bytewise,
    verdict bytewise, pin text NOT NULL, by text NOT NULL, at float8 NOT NULL,
    definition text NOT NULL,
    PRIMARY KEY (tenant, source, name, verdict)
);
CREATE TABLE decision_configuration (
    tenant tenant_id, source bytewise, entry text NOT NULL,
    PRIMARY KEY (tenant, source)
);
CREATE TABLE decision_source (
    tenant tenant_id, source bytewise, bucket int NOT NULL,
    used float8 NOT NULL, seal bytea NOT NULL, count bigint NOT NULL,
    PRIMARY KEY (tenant, source)
);
CREATE INDEX decision_source_bucket ON decision_source (tenant, bucket);
CREATE INDEX decision_source_count ON decision_source (tenant, count);
CREATE TABLE decision_bucket (
    tenant tenant_id, bucket int, seal bytea NOT NULL,
    PRIMARY KEY (tenant, bucket)
);
CREATE TABLE decision_whole (
    tenant tenant_id PRIMARY KEY,
    count bigint NOT NULL, first_sight boolean NOT NULL, seal bytea NOT NULL
);

CREATE TABLE ticket (
    tenant tenant_id, number bigint GENERATED ALWAYS AS IDENTITY, id bytewise,
    caller bytewise NOT NULL, pin bytewise NOT NULL,
    digest bytewise NOT NULL, expires float8 NOT NULL, request text NOT NULL, leave bytea,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, caller, pin, digest)
);

CREATE TABLE reveal (
    tenant tenant_id, caller bytewise, session bytewise,
    names text NOT NULL, tokens bigint NOT NULL, listed bigint,
    used bigint GENERATED ALWAYS AS IDENTITY, at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, caller, session)
);
CREATE INDEX reveal_used ON reveal (tenant, used);

CREATE TABLE reveal_set (
    tenant tenant_id, owner bytea, handle bytea,
    pins text NOT NULL, used float8 NOT NULL, number bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, owner, handle)
);

CREATE TABLE result (
    tenant tenant_id, handle bytea, caller bytea NOT NULL,
    body bytea NOT NULL, expires float8 NOT NULL, number bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, handle)
);

CREATE TABLE use_key (tenant tenant_id PRIMARY KEY, key bytea NOT NULL);
CREATE TABLE use_pair (
    tenant tenant_id, before bytewise, after bytewise,
    count bigint NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, before, after)
);
CREATE TABLE use_lesson (
    tenant tenant_id, profile bytea, word bytea, tool bytewise,
    uses bigint NOT NULL, weight float8 NOT NULL, day bigint NOT NULL,
    PRIMARY KEY (tenant, profile, word, tool)
);

CREATE TABLE embedding (
    model bytewise, text_hash bytea, vector bytea NOT NULL,
    PRIMARY KEY (model, text_hash)
);

-- Ids are counted in the row of their tenant: so they are in the order of the commits, and whoever
-- has seen one has seen all before it.
CREATE TABLE event_count (tenant tenant_id PRIMARY KEY, last bigint NOT NULL);
CREATE TABLE event (
    tenant tenant_id, id bigint, at float8 NOT NULL, kind bytewise NOT NULL,
    caller bytewise NOT NULL, client bytewise NOT NULL,
    conversation bytewise NOT NULL, name bytewise NOT NULL,
    server bytewise NOT NULL, seconds float8 NOT NULL, code bytewise NOT NULL,
    trace bytewise NOT NULL, facts text NOT NULL, query text NOT NULL,
    seen float8 NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX event_kind ON event (tenant, kind, id);
CREATE INDEX event_query ON event (tenant, seen) WHERE query <> '';
CREATE INDEX event_conversation ON event (tenant, conversation, id) WHERE conversation <> '';
CREATE TABLE rollup (
    tenant tenant_id, hour bigint, kind bytewise, name bytewise,
    server bytewise, code bytewise, how bytewise,
    count bigint NOT NULL, seconds float8 NOT NULL, buckets bigint[] NOT NULL,
    eager bigint NOT NULL, sent bigint NOT NULL, seen float8 NOT NULL,
    PRIMARY KEY (tenant, hour, kind, name, server, code, how)
);
CREATE INDEX rollup_seen ON rollup (tenant, seen);

CREATE TABLE login (
    tenant tenant_id, server bytewise, sealed bytea NOT NULL,
    written float8 NOT NULL,
    PRIMARY KEY (tenant, server)
);

-- An id is found among those of all tenants: whoever shows a key is known by it alone.
CREATE TABLE client_key (
    tenant tenant_id, id bytewise PRIMARY KEY, name bytewise NOT NULL,
    profiles text NOT NULL, scopes text NOT NULL, made_at float8 NOT NULL, expires_at float8,
    rate bigint, at_once bigint, salt text NOT NULL, hashed text NOT NULL, has_id boolean NOT NULL,
    former_salt text, former_hashed text, former_has_id boolean, former_until float8,
    used_at float8 NOT NULL,
    UNIQUE (tenant, name)
);
CREATE POLICY by_id ON client_key FOR SELECT
    USING (id = nullif(current_setting('toolcrib.key_id', true), ''));
CREATE TABLE key_version (number bigint NOT NULL);
INSERT INTO key_version VALUES (0);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'tenant', 'document', 'listing', 'listing_failure', 'pack', 'pack_part', 'decision',
        'decision_configuration', 'decision_source', 'decision_bucket', 'decision_whole', 'ticket',
        'reveal', 'reveal_set', 'result', 'use_key', 'use_pair', 'use_lesson', 'event_count',
        'event', 'rollup', 'login', 'client_key'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        -- A setting that was only ever set within transactions reads '' outside of them.
        EXECUTE format($policy$
            CREATE POLICY own_rows ON %I USING
                (tenant = nullif(current_setting('toolcrib.tenant', true), ''))
            $policy$, name);
    END LOOP;
END
$$;
