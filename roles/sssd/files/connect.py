"""Connect to servers of LDAP by TLS or StartTLS: ``connect.py CERTIFICATES URI…``, the certificates as text.

Prints why a server cannot be used. Ends with 1 if one has a certificate that does not fit, or if none can be
used. One that does not answer is no failure beside another that does. Any Python from 3.6 on.
"""

import socket
import ssl
import sys

# The extended request of RFC 4511, 4.14.1: message 1, [APPLICATION 23], the name 1.3.6.1.4.1.1466.20037.
STARTTLS = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x16" + b"1.3.6.1.4.1.1466.20037"
SUCCESS = b"\x0a\x01\x00"  # the result code 0, the first ENUMERATED of the answer
TIMEOUT_S = 10
PORTS = {"ldap": 389, "ldaps": 636}


class Refused(Exception):
    """A server that does not encrypt."""


def check(uri, context):
    """Connect; raises OSError or Refused where that is not possible."""
    kind, _, rest = uri.partition("://")
    host, _, port = rest.partition(":")
    with socket.create_connection((host, int(port or PORTS[kind])), TIMEOUT_S) as plain:
        if kind == "ldap":
            plain.sendall(STARTTLS)
            answer = plain.recv(4096)
            if SUCCESS not in answer[:16]:
                said = answer.decode("ascii", "ignore")[14:]
                raise Refused("it refuses StartTLS, so nothing would be encrypted: " + said)
        with context.wrap_socket(plain, server_hostname=host):
            pass


def main(certificates, uris):
    """The exit status, after what is wrong was printed."""
    try:
        context = ssl.create_default_context(cadata=certificates)
    except (ssl.SSLError, ValueError) as why:
        print("the certificates of who signs cannot be read: {}".format(why))
        return 1
    wrong, usable = False, 0
    for uri in uris:
        try:
            check(uri, context)
            usable += 1
        except (Refused, ssl.SSLError) as why:
            wrong = True
            print("{}: {}".format(uri, getattr(why, "verify_message", "") or why))
        except OSError as why:
            print("{}: {}".format(uri, why))
    return 1 if wrong or not usable else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
