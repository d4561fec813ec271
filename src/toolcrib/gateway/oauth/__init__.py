"""The gateway as an OAuth 2.1 resource server: people come with a token of their own provider.

    token ──> tokens ──> issuer_keys ──> the provider's public keys, fetched now and then
                 └──> Person: a subject, the profiles of their groups, until when

`resource_metadata` tells a client without a token where to get one (RFC 9728), and what is missing.
Toolcrib issues no token, keeps none, logs none and hands none on.
"""
