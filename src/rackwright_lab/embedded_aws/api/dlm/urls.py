"""Addresses of Amazon Data Lifecycle Manager; moto looks for a module of this name."""

from __future__ import annotations

from rackwright_lab.embedded_aws.api.dlm.responses import LifecycleResponse

url_bases = [r"https?://dlm\.(.+)\.amazonaws\.com"]
url_paths = {
    "{0}/policies$": LifecycleResponse.dispatch,
    "{0}/policies/(?P<policy_id>[^/]+)/?$": LifecycleResponse.dispatch,
    "{0}/tags/(?P<arn>.+)$": LifecycleResponse.dispatch,
}
