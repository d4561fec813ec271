# Run by the image of PostgreSQL when it makes the database of compose.yaml, and only then.
# Toolcrib refuses to work as a superuser, for whom row security does not hold.
psql --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" --username=postgres <<'SQL'
CREATE ROLE toolcrib LOGIN PASSWORD :'password';
CREATE DATABASE toolcrib OWNER toolcrib;
SQL
