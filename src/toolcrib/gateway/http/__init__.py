"""The gateway over HTTP: an edge that refuses, and behind it the SDK's transport for each guest."""
