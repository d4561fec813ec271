"""OAuth for servers elsewhere.

    authorizer  puts the token on every request, refreshes it, and registers our client
    login       `toolcrib login`: a person agrees in a browser
    callback    where the browser's redirect lands
    login_file  the tokens of one server, in a private file

A call never waits for a person: without a usable token it fails with `needs_login`.
"""
