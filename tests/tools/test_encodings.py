import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.tools.encodings import decode_base64, encode_base64, generate_uuid, hash_text

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


def test_known_fingerprints():
    assert hash_text("abc").startswith("ba7816bf")
    assert hash_text("abc", "md5") == "900150983cd24fb0d6963f7d28e17f72"


@settings(deadline=None)
@given(TEXT, st.booleans(), st.booleans())
def test_decoding_undoes_encoding(text, url_safe, padded):
    data = encode_base64(text, url_safe=url_safe)
    assert decode_base64(data if padded else data.rstrip("=")) == text


@pytest.mark.parametrize(("data", "message"), [("a!b", "not Base64"), ("/w==", "not UTF-8 text")])
def test_what_holds_no_text_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        decode_base64(data)


def test_identifiers_are_fresh():
    made = generate_uuid(50)
    assert len(set(made)) == 50
    assert {uuid.UUID(one).version for one in made} == {4}
