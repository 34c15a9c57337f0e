"""Texts that Ansible would take for templates are refused by ``check``, not by ``inventory`` alone."""

from __future__ import annotations

from typing import Any

import pytest

from factories import a_blueprint
from rackwright.errors import SpecErrors
from rackwright.plan.load import load_data

CODE = "{{ lookup('pipe', 'id') }}"


@pytest.mark.parametrize("mark", ["{{ x }}", "{% x %}", "{# x #}"])
def test_a_kernel_parameter_that_is_a_template_is_refused_at_its_place(mark: str) -> None:
    hosts = [{"name": "all", "kernel_parameters": {"kernel.domainname": f"a{mark}"}}]
    with pytest.raises(SpecErrors) as raised:
        load_data(a_blueprint(operations={"hosts": hosts}))
    (error,) = raised.value.errors
    assert "operations.hosts.all.kernel_parameters.kernel.domainname" in error.summary
    assert "which is a template to Ansible" in error.summary


def test_an_owner_that_is_a_template_is_refused() -> None:
    with pytest.raises(SpecErrors, match="which is a template"):
        load_data(a_blueprint(owner=CODE))


def test_a_reason_may_say_what_it_likes() -> None:
    reasons: dict[str, Any] = {"name": {"reason": f"the former one had {CODE} in it"}}
    assert load_data(a_blueprint(reasons=reasons)).plan.name == "demo"
