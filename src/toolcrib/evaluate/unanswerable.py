"""Requests that hardly any catalog has a tool for, though they sound like work for one.

A line is a request, and after the bar the words that a catalog would say if it had a tool for it
after all. A request is left out for a catalog that says one of them.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from toolcrib.text import is_unspaced, stems, words


class UnansweredRequest(NamedTuple):
    """A request, and the words of a catalog that might serve it."""

    text: str
    served_by: frozenset[str]


_ENGLISH = """
order a pepperoni pizza for tonight | pizza restaurant food meal delivery
book me a haircut for Saturday morning | haircut salon barber appointment
turn the washing machine on at six | washing appliance laundry
walk the dog at noon | dog pet walker
water the plants in the living room | plant garden irrigation
find someone to repair my bicycle | bicycle bike repair
renew my passport | passport visa consulate
reserve two seats for the late film | cinema film movie seat
open the garage door | garage door
sign me up for the gym next to the office | gym fitness membership
charge my electric car overnight | charger charging vehicle tesla
refill my prescription at the pharmacy | pharmacy prescription medication
get me a taxi to the station | taxi cab ride uber lyft
call my mother on the phone | phone call dial telephony twilio
print this twice in colour | print printer
pay the electricity bill | bill utility electricity payment
make the coffee machine brew a cup | coffee brew
find a babysitter for Friday evening | babysitter nanny childcare
cancel my gas contract | contract cancellation utility gas
tune my guitar | guitar tune instrument
mow the lawn this afternoon | lawn mow garden
trade in my old phone | trade resale phone
iron my shirts for the trip | iron shirt laundry
pick up my parcel from the post office | parcel package shipment courier
""".strip()
_CHINESE = """
帮我点一份外卖 | 外卖 餐厅 点餐 food restaurant meal
预约明天上午理发 | 理发 预约 haircut salon appointment
把洗衣机打开 | 洗衣 家电 washing appliance
给阳台的花浇水 | 浇水 植物 plant garden
叫一辆出租车去机场 | 出租车 打车 taxi cab ride
帮我续签护照 | 护照 签证 passport visa
给我妈妈打个电话 | 电话 拨打 phone dial telephony
去驿站取一下快递 | 快递 包裹 parcel package courier
""".strip()


def unanswerable(said: Collection[str], *, chinese: bool) -> Sequence[UnansweredRequest]:
    """The requests that this catalog says nothing about, by the stems of all that it says.

    With `chinese`, every third one is Chinese.
    """
    english, other = ([*_read(lines, said)] for lines in (_ENGLISH, _CHINESE))
    if not chinese:
        return english
    mixed = [*english]
    for place, each in enumerate(other):
        mixed.insert(3 * place + 2, each)
    return mixed


def _read(lines: str, said: Collection[str]) -> Sequence[UnansweredRequest]:
    rows = [line.partition(" | ") for line in lines.splitlines()]
    every = [UnansweredRequest(text, frozenset(some.split())) for text, _, some in rows]
    return [each for each in every if not any(_is_said(word, said) for word in each.served_by)]


def _is_said(word: str, said: Collection[str]) -> bool:
    """Whether a catalog says the word; of a Chinese one, the word or something with it inside."""
    if any(map(is_unspaced, words(word))):
        return any(word in each for each in said)
    return not set(stems([word])).isdisjoint(said)
