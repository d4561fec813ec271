"""All that a gateway server hands on beside tools: resources, prompts, completions."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from toolcrib.crib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.input_requests import InputRequests
from toolcrib.gateway.list_notifications import OfferListNotifier, Publish
from toolcrib.gateway.offers import VisibleOffers
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.prompts import completion_handlers, prompt_handlers
from toolcrib.gateway.resources import ResourceSubscriptions, resource_handlers

_LISTS = ("on_list_resources", "on_list_resource_templates", "on_list_prompts")

ListHandler = Callable[[sdk.Context, sdk.PaginatedRequestParams], Awaitable[sdk.Result]]


class OfferHandlers:
    """For one principal. `publish` sends an event to the streams of the modern era."""

    def __init__(
        self, crib: Crib, principal: Principal, input_requests: InputRequests, publish: Publish
    ) -> None:
        self._publish = publish
        offers = VisibleOffers(crib, principal, input_requests)
        self._subscriptions = ResourceSubscriptions(offers)
        self._notifier = OfferListNotifier(crib, offers, publish)
        self._handlers: dict[str, Any] = {
            **resource_handlers(offers),
            **prompt_handlers(offers),
            **completion_handlers(offers),
            **self._subscriptions.handlers(),
        }

    def handlers(self) -> dict[str, Any]:
        """What an SDK server takes as `on_...`."""
        return self._handlers | {name: self._subscribing(self._handlers[name]) for name in _LISTS}

    @asynccontextmanager
    async def listening(
        self, context: sdk.Context, params: sdk.SubscriptionsListenRequestParams
    ) -> AsyncGenerator[None]:
        """While a stream of the modern era is open, publish the changes that it asked for."""
        self._notifier.subscribe(context)
        uris = params.notifications.resource_subscriptions or ()
        async with self._subscriptions.during(context, uris, self._updated):
            yield

    def close(self) -> None:
        """Notify nobody any more."""
        self._notifier.close()

    async def _updated(self, uri: str) -> None:
        await self._publish(sdk.ResourceUpdated(uri=uri))

    def _subscribing(self, handler: ListHandler) -> ListHandler:
        """The same handler; whoever lists is notified of changes from then on."""

        async def listing(context: sdk.Context, params: sdk.PaginatedRequestParams) -> sdk.Result:
            self._notifier.subscribe(context)
            return await handler(context, params)

        return listing
