"""Sites from their answers: capacity, queue, health, and sites that do not answer."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from cli_support import run_here
from rackwright.errors import ExternalToolError
from rackwright.fleet.asking import ByRest, BySsh, ask_all
from rackwright.fleet.reading import read_jobs, read_nodes
from rackwright.policy.packs.loader import builtin_pack

FIXTURE = str(builtin_pack() / "fixtures/federation.yaml")


def node(name: str, *words: str, used: int = 0, reason: str = "", watts: int = 0) -> dict[str, Any]:
    """A node as Slurm 24.11 writes it."""
    return {
        "name": name,
        "state": list(words) or ["IDLE"],
        "reason": reason,
        "tres": "cpu=224,mem=1992294M,billing=224,gres/gpu=8,gres/gpu:h100=8",
        "tres_used": f"cpu=28,gres/gpu={used},gres/gpu:h100={used}" if used else "",
        "energy": {"current_watts": {"set": True, "infinite": False, "number": watts}},
    }


def job(number: int, state: str, gpus: int, eligible: int) -> dict[str, Any]:
    return {
        "job_id": number,
        "job_state": [state],
        "partition": "gpu",
        "user_name": "ada",
        "qos": "normal",
        "nodes": "",
        "tres_req_str": f"cpu=8,mem=1G,node=1,gres/gpu={gpus}",
        "eligible_time": {"set": True, "infinite": False, "number": eligible},
    }


def answers(
    folder: Path, site: str, nodes: list[dict[str, Any]], jobs: list[dict[str, Any]]
) -> str:
    place = folder / site
    place.mkdir()
    (place / "nodes.json").write_text(json.dumps({"nodes": nodes}))
    (place / "jobs.json").write_text(json.dumps({"jobs": jobs}))
    return f"{site}={place}"


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Answers of alpha and beta; gamma has none."""
    alpha = [node(f"alpha-gpu-{n}", "ALLOCATED", used=8, watts=9000) for n in (1, 2, 3)]
    alpha.append(node("alpha-gpu-4", "IDLE", "DRAIN", reason="rackwright: Xid 79"))
    beta = [node(f"beta-gpu-{n}") for n in (1, 2, 3)]
    made = [
        answers(tmp_path, "alpha", alpha, [job(1, "RUNNING", 24, 0), job(2, "PENDING", 16, 0)]),
        answers(tmp_path, "beta", beta, []),
    ]
    return [word for text in (*made, f"gamma={tmp_path}/none") for word in ("--answers", text)]


def test_sites_are_shown_and_the_silent_one_is_named(tmp_path: Path, folders: list[str]) -> None:
    done = run_here(tmp_path, "fleet", FIXTURE, *folders, "--json")
    assert done.code == 4, "a site does not answer"
    alpha, beta, gamma = json.loads(done.out)["sites"]
    assert alpha["capacity"] == {"planned": 32, "serving": 24, "busy": 24, "lost": 8}
    assert alpha["queue"]["running"] == 1
    assert (alpha["queue"]["pending"], alpha["queue"]["asked"]) == (1, 16)
    assert alpha["out_of_service"] == {"alpha-gpu-4": "rackwright: Xid 79"}
    assert alpha["measured_w"] is None, "one node measures nothing"
    assert beta["missing"] == ["beta-gpu-4"]
    assert beta["capacity"]["lost"] == 8
    assert gamma["failed"].endswith("No such file or directory")
    assert gamma["capacity"] is None
    assert gamma["planned_w"] > 0, "the plan is known all the same"


def test_an_answer_of_another_cluster_is_no_loss(tmp_path: Path, folders: list[str]) -> None:
    """All nodes of the site were lost by an answer that names none of them."""
    strangers = answers(tmp_path, "gamma", [node("delta-gpu-1")], [])
    done = run_here(tmp_path, "fleet", FIXTURE, *folders[:4], "--answers", strangers, "--json")
    assert done.code == 4
    gamma = json.loads(done.out)["sites"][2]
    assert gamma["failed"] == "its answer names none of the 4 nodes of 'globe-gamma'"
    assert gamma["capacity"] is None


def test_an_answer_that_is_no_text_does_not_keep_the_others(
    tmp_path: Path, folders: list[str]
) -> None:
    (tmp_path / "none").mkdir()
    for name in ("nodes.json", "jobs.json"):
        (tmp_path / "none" / name).write_bytes(b"\xff\xfe{")
    done = run_here(tmp_path, "fleet", FIXTURE, *folders, "--json")
    assert done.code == 4, done.err
    sites = json.loads(done.out)["sites"]
    assert [bool(site["failed"]) for site in sites] == [False, False, True]
    assert "is not JSON" in sites[2]["failed"]


@pytest.mark.parametrize("url", ["http://[::1", "ftp://head", "http://head:x", "http://"])
def test_an_address_that_is_none_does_not_keep_the_others(
    tmp_path: Path, folders: list[str], url: str
) -> None:
    done = run_here(tmp_path, "fleet", FIXTURE, *folders[:4], "--rest", f"gamma={url}", "--json")
    assert done.code == 4, done.err
    sites = json.loads(done.out)["sites"]
    assert [bool(site["failed"]) for site in sites] == [False, False, True]
    assert (
        sites[2]["failed"]
        == f"'{url}' is not the address of a slurmrestd: expected http:// or https://"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--ssh", "ssh 'x"), "'ssh 'x' is no command for --ssh"),
        (("--ssh", ""), "'' is no command for --ssh"),
        (("--timeout", "nan"), "--timeout is more than 0 s, and at most 86,400 s"),
        (("--timeout", "inf"), "--timeout is more than 0 s, and at most 86,400 s"),
    ],
)
def test_options_that_name_no_way_are_refused(
    tmp_path: Path, folders: list[str], words: tuple[str, ...], message: str
) -> None:
    done = run_here(tmp_path, "fleet", FIXTURE, *folders, *words)
    assert (done.code, message in done.err) == (2, True), done.err


def test_a_page_is_no_folder(tmp_path: Path, folders: list[str]) -> None:
    done = run_here(tmp_path, "fleet", FIXTURE, *folders, "--page", ".")
    assert done.code == 4
    assert "error: '.' cannot be used: is a directory" in done.err


def test_the_text_has_a_line_for_each_site(tmp_path: Path, folders: list[str]) -> None:
    lines = run_here(tmp_path, "fleet", FIXTURE, *folders).out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["alpha", "beta", "gamma"]
    assert lines[2].split()[1:5] == ["32", "24", "24", "8"]
    assert any(line.startswith("gamma does not answer: ") for line in lines)


def test_the_page_loads_nothing_and_escapes_what_slurm_says(tmp_path: Path) -> None:
    nodes = [node("alpha-gpu-1", "DOWN", reason="<script>alert(1)</script>")]
    words = ["--answers", answers(tmp_path, "alpha", nodes, []), "--site", "alpha"]
    run_here(tmp_path, "fleet", FIXTURE, *words, "--page", "fleet.html")
    page = (tmp_path / "fleet.html").read_text("utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "src=" not in page
    assert "<b>" in page, "the rack of the node is marked"


def test_a_site_that_hangs_does_not_keep_the_others(tmp_path: Path) -> None:
    good = BySsh(
        (
            sys.executable,
            "-c",
            "print('{\"nodes\": []}'); print('--- rackwright: jobs'); print('{\"jobs\": []}')",
        )
    )
    slow = BySsh((sys.executable, "-c", "import time; time.sleep(60)"))
    refused = BySsh(("sh", "-c", "echo no route to host >&2; exit 255", "ssh"))
    found = ask_all({"good": good, "slow": slow, "refused": refused}, 3.0)
    assert {site: one.failed for site, one in found.items()} == {
        "good": "",
        "slow": "no answer within 3 s",
        "refused": "no route to host",
    }


@pytest.fixture
def slurmrestd() -> Iterator[str]:
    """Yield the address of a server that answers like slurmrestd, with its token."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("X-SLURM-USER-TOKEN") != "secret":
                self.send_error(401)
                return
            what = "nodes" if "nodes" in self.path else "jobs"
            body = json.dumps({what: [node("alpha-gpu-1")] if what == "nodes" else []}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/slurm/v0.0.42"
    server.shutdown()
    thread.join()
    server.server_close()


def test_slurmrestd_is_asked_with_its_token(
    tmp_path: Path, slurmrestd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("fleet", FIXTURE, "--site", "alpha", "--rest", f"alpha={slurmrestd}", "--json")
    refused = run_here(tmp_path, *words)
    assert "answers 401" in json.loads(refused.out)["sites"][0]["failed"]
    monkeypatch.setenv("SLURM_JWT", "secret")
    (site,) = json.loads(run_here(tmp_path, *words).out)["sites"]
    assert (site["failed"], site["states"]) == (None, {"idle": 1})


def test_the_token_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch, slurmrestd: str) -> None:
    """A redirect of a site would lead it to another server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"{slurmrestd}/nodes/")
            self.end_headers()

        def log_message(self, *words: Any) -> None:
            pass

    monkeypatch.setenv("SLURM_JWT", "secret")
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.raises(ExternalToolError, match="answers 302"):
            ByRest(f"http://127.0.0.1:{server.server_port}").ask(60)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_states_and_numbers_of_older_releases_are_read() -> None:
    """Slurm 22.05 writes a word, flags beside it, and plain numbers."""
    old = {
        "name": "n1",
        "state": "idle",
        "state_flags": ["DRAIN"],
        "gres": "gpu:h100:8(S:0-1)",
        "gres_used": "gpu:h100:2(IDX:0-1)",
    }
    (found,) = read_nodes(json.dumps({"nodes": [old]}))
    assert (found.state, found.used, found.watts) == ("IDLE+DRAIN", 2, None)
    (one,) = read_jobs(
        json.dumps({"jobs": [{"job_id": 7, "job_state": "PENDING", "eligible_time": 5}]})
    )
    assert (one.state, one.eligible) == ("PENDING", 5.0)


@pytest.mark.parametrize(
    "text", ["", "{}", '{"nodes": 3}', "slurm_load_node error", '{"nodes": [1]}']
)
def test_invalid_answer_is_an_error(text: str) -> None:
    with pytest.raises(ExternalToolError):
        read_nodes(text)


def test_a_blueprint_without_federation_is_told_what_shows_it(tmp_path: Path) -> None:
    done = run_here(tmp_path, "fleet", str(builtin_pack() / "fixtures/slurm.yaml"))
    assert done.code == 2
    assert "status --target hosts" in done.err
