"""Stand-in of Grafana, which Debian does not have.

It reads its settings and what is provisioned, and answers the part of the HTTP API that tells what
is there; it shows no pages.
"""

from __future__ import annotations

from rackwright_lab.mock_packages.package import MockPackage

GRAFANA, OLD_GRAFANA = "11.6.1", "10.4.19"

PROGRAM = '''\
#!/usr/bin/python3
"""Stand-in of a lab: the settings, the provisioning and the API of Grafana, without pages."""
import argparse, base64, configparser, hashlib, http.server, json, os, re, ssl, sys, time
import urllib.parse
import yaml


def log(*words):
    print(*words, file=sys.stderr, flush=True)


def read_settings(path):
    settings = configparser.RawConfigParser(strict=False)
    with open(path) as file:
        settings.read_file(file)
    for section in settings.sections():
        for key, value in settings.items(section):
            settings.set(section, key, re.sub(r"\\$__file{([^}]+)}", read_secret, value))
    return settings


def read_secret(match):
    with open(match[1]) as file:
        return file.read().strip()


class Users:
    """The password of the administrator: of the settings when the database is made, later its own."""

    def __init__(self, settings):
        self.path = os.path.join(settings.get("paths", "data"), "grafana.db")
        self.name = settings.get("security", "admin_user", fallback="admin")
        if not os.path.exists(self.path):
            self.set(settings.get("security", "admin_password", fallback="admin"))

    def set(self, password):
        salt = os.urandom(8).hex()
        with open(self.path, "w") as file:
            json.dump([salt, digest(salt, password)], file)

    def accepts(self, header):
        scheme, _, text = (header or "").partition(" ")
        name, _, password = base64.b64decode(text).decode().partition(":")
        with open(self.path) as file:
            salt, wanted = json.load(file)
        return scheme == "Basic" and name == self.name and digest(salt, password) == wanted


def digest(salt, password):
    return hashlib.sha256((salt + password).encode()).hexdigest()


def provisioned(settings, kind):
    """The documents of a folder below provisioning; a mistake in one ends the server."""
    folder = os.path.join(settings.get("paths", "provisioning"), kind)
    for name in sorted(os.listdir(folder)):
        if name.endswith((".yaml", ".yml")):
            with open(os.path.join(folder, name)) as file:
                try:
                    document = yaml.safe_load(file)
                except yaml.YAMLError as error:
                    sys.exit("%s provisioning error: %s: %s" % (kind, name, error))
            if document.get("apiVersion") != 1:
                sys.exit("%s provisioning error: %s has no apiVersion 1" % (kind, name))
            yield document


class Dashboards:
    """Those of the folders of all providers, read again after the time that each asks for."""

    def __init__(self, settings):
        documents = provisioned(settings, "dashboards")
        self.providers = [one for document in documents for one in document["providers"]]
        self.found, self.read_at = {}, {}

    def __call__(self):
        for provider in self.providers:
            name = provider["name"]
            interval = provider.get("updateIntervalSeconds", 10)
            if time.time() - self.read_at.get(name, 0) >= interval:
                self.read_at[name] = time.time()
                self.found[name] = dict(self.read(provider))
        return {uid: one for pages in self.found.values() for uid, one in pages.items()}

    def read(self, provider):
        for folder, _, names in os.walk(provider["options"]["path"]):
            for name in sorted(names):
                path = os.path.join(folder, name)
                try:
                    with open(path) as file:
                        page = json.load(file)
                    if not page["title"]:
                        raise ValueError("Dashboard title cannot be empty")
                    if not re.fullmatch("[A-Za-z0-9_-]{1,40}", page["uid"]):
                        raise ValueError("uid contains illegal characters or is too long")
                    yield page["uid"], dict(page, folder=provider.get("folder", "General"))
                except (ValueError, KeyError, TypeError) as error:
                    log("failed to load dashboard from", path, repr(error))


def serve(settings):
    users, pages = Users(settings), Dashboards(settings)
    sources = {one["uid"]: one for document in provisioned(settings, "datasources")
               for one in document["datasources"]}
    strangers = settings.getboolean("auth.anonymous", "enabled", fallback=False)

    def answer(path, allowed):
        if path == "/api/health":
            return 200, {"database": "ok", "version": "VERSION", "commit": "lab"}
        if not (allowed or strangers):
            return 401, {"message": "Unauthorized"}
        if path == "/api/org":
            return 200, {"id": 1, "name": "Main Org."}
        if path == "/api/datasources":
            return 200, list(sources.values())
        if path == "/api/search":
            return 200, [{"uid": uid, "title": page["title"], "type": "dash-db",
                          "folderTitle": page["folder"]} for uid, page in pages().items()]
        kind, _, uid = path.rpartition("/")
        if kind == "/api/datasources/uid" and uid in sources:
            return 200, sources[uid]
        if kind == "/api/dashboards/uid" and uid in pages():
            page = pages()[uid]
            return 200, {"dashboard": page, "meta": {"folderTitle": page["folder"]}}
        return 404, {"message": "not found"}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            allowed = users.accepts(self.headers.get("Authorization"))
            code, body = answer(urllib.parse.urlsplit(self.path).path, allowed)
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *words):
            pass

    where = settings.get("server", "http_addr"), settings.getint("server", "http_port")
    server = http.server.ThreadingHTTPServer(where, Handler)
    if settings.get("server", "protocol", fallback="http") == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings.get("server", "cert_file"), settings.get("server", "cert_key"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


def main():
    parser = argparse.ArgumentParser(prog="grafana")
    parser.add_argument("command", choices=["server", "cli"])
    parser.add_argument("--homepath")
    parser.add_argument("--config", required=True)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--password-from-stdin", action="store_true")
    asked = parser.parse_intermixed_args()
    settings = read_settings(asked.config)
    if asked.command == "server":
        serve(settings)
    elif asked.words == ["admin", "reset-admin-password"] and asked.password_from_stdin:
        Users(settings).set(sys.stdin.readline().rstrip("\\n"))
        print("Admin password changed successfully")
    else:
        sys.exit("the stand-in of a lab knows 'admin reset-admin-password --password-from-stdin'")


main()
'''

UNIT = """\
[Unit]
Description=Grafana instance (stand-in of a lab)
After=network.target
[Service]
User=grafana
Group=grafana
WorkingDirectory=/usr/share/grafana
ExecStart=/usr/share/grafana/bin/grafana server --config=/etc/grafana/grafana.ini
UMask=0027
[Install]
WantedBy=multi-user.target
"""

SETTINGS = """\
[paths]
data = /var/lib/grafana
provisioning = /etc/grafana/provisioning
[server]
http_addr = 0.0.0.0
http_port = 3000
"""

INSTALLED = """\
#!/bin/sh
set -e
getent passwd grafana >/dev/null || useradd --system --user-group --no-create-home \\
  --home-dir /usr/share/grafana --shell /bin/false grafana
mkdir -p /var/lib/grafana /var/log/grafana
chown grafana:grafana /var/lib/grafana /var/log/grafana
chown -R root:grafana /etc/grafana
"""


def _grafana(version: str) -> MockPackage:
    return MockPackage(
        "grafana",
        version,
        "Grafana (stand-in of a lab)",
        ("python3-yaml",),
        files={
            "usr/share/grafana/bin/grafana": PROGRAM.replace("VERSION", version),
            "lib/systemd/system/grafana-server.service": UNIT,
            "etc/grafana/grafana.ini": SETTINGS,
            "etc/grafana/provisioning/datasources/sample.yaml": "apiVersion: 1\ndatasources: []\n",
            "etc/grafana/provisioning/dashboards/sample.yaml": "apiVersion: 1\nproviders: []\n",
        },
        installed=INSTALLED,
    )


MOCK_PACKAGES = (_grafana(GRAFANA), _grafana(OLD_GRAFANA))
