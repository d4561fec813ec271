"""All that a window passes on beside tools, in one."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from toolcrib.crib import Crib
from toolcrib.gateway import completions, prompts, resources, sdk
from toolcrib.gateway.input_requests import InputRequests
from toolcrib.gateway.list_notifications import OfferListNotifier, Publish
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.resources import ResourceSubscriptions

_LISTS = ("on_list_resources", "on_list_resource_templates", "on_list_prompts")

ListHandler = Callable[[sdk.Context, sdk.PaginatedRequestParams], Awaitable[sdk.Result]]


class OfferHandlers:
    """For one principal. `publish` tells the streams of the modern era what has changed."""

    def __init__(
        self, crib: Crib, principal: Principal, rounds: InputRequests, publish: Publish
    ) -> None:
        self._publish = publish
        self._watched = ResourceSubscriptions(crib, principal)
        self._news = OfferListNotifier(crib, principal, publish)
        self._served: dict[str, Any] = {
            **resources.resource_handlers(crib, principal, rounds),
            **prompts.prompt_handlers(crib, principal, rounds),
            **completions.completion_handlers(crib, principal, rounds),
            **self._watched.handlers(),
        }

    def handlers(self) -> dict[str, Any]:
        """What an SDK server takes as `on_...`."""
        return self._served | {name: self._heeded(self._served[name]) for name in _LISTS}

    @asynccontextmanager
    async def listening(
        self, context: sdk.Context, params: sdk.SubscriptionsListenRequestParams
    ) -> AsyncGenerator[None]:
        """While a stream of the modern era is open, have told on it what it wants to hear."""
        self._news.heed(context)
        uris = params.notifications.resource_subscriptions or ()
        async with self._watched.during(context, uris, self._updated):
            yield

    def close(self) -> None:
        """Tell nobody anything any more."""
        self._news.close()

    async def _updated(self, uri: str) -> None:
        await self._publish(sdk.ResourceUpdated(uri=uri))

    def _heeded(self, listed: ListHandler) -> ListHandler:
        async def listing(context: sdk.Context, params: sdk.PaginatedRequestParams) -> sdk.Result:
            self._news.heed(context)
            return await listed(context, params)

        return listing
