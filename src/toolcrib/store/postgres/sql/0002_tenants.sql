-- A gateway that serves several tenants asks which there are, and which of them have changed. It is
-- shown their rows here, and nothing of what they own: every other table keeps its one policy.
ALTER TABLE tenant ADD made_at timestamptz NOT NULL DEFAULT now();
-- Nobody is served for a tenant that is switched off; what it owns stays.
ALTER TABLE tenant ADD disabled boolean NOT NULL DEFAULT false;
CREATE POLICY listed ON tenant FOR SELECT
    USING (current_setting('toolcrib.tenants', true) = 'listed');
