"""A bucket gets the tags that its creation names.

AWS's own provider tags a bucket by the call that makes it; moto forgets the tags then.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from moto.s3.responses import S3Response

from rackwright_lab.embedded_aws.api.patching import first_time, put


def install() -> None:
    """Fix moto's class; a second call changes nothing."""
    if not first_time(__name__):
        return
    first = S3Response._bucket_response_put

    def bucket_response_put(
        self: Any, request: Any, bucket_name: str, querystring: dict[str, Any]
    ) -> Any:
        made = first(self, request, bucket_name, querystring)
        tags = {} if querystring else _tags(self.body)
        if tags:
            self.backend.put_bucket_tagging(bucket_name, tags)
        return made

    put(S3Response, _bucket_response_put=bucket_response_put)


def _tags(body: bytes) -> dict[str, str]:
    """Return the tags in the body of CreateBucket."""
    named = ET.fromstring(body).iterfind("{*}Tags/{*}Tag") if body else ()  # noqa: S314 - of this machine # nosec B314
    return {one.findtext("{*}Key", ""): one.findtext("{*}Value", "") for one in named}
