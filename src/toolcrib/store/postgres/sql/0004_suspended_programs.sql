-- Programs that wait for a person, and tickets that wait as long as they do.

CREATE TABLE suspension (
    tenant tenant_id, handle bytea, caller bytea NOT NULL,
    body bytea NOT NULL, expires float8 NOT NULL, number bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, handle)
);
ALTER TABLE suspension ENABLE ROW LEVEL SECURITY;
ALTER TABLE suspension FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON suspension USING
    (tenant = nullif(current_setting('toolcrib.tenant', true), ''));

ALTER TABLE ticket ADD COLUMN lasts float8 NOT NULL DEFAULT 300;
