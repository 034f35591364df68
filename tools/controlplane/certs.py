# SPDX-License-Identifier: Apache-2.0
"""Certificates and kubeconfig files of a test control plane. Keys are made by the openssl command and live in the
control plane's own folder only."""

import base64
import datetime
import pathlib
import subprocess

CLIENTS = {  # kubeconfig name: certificate subject, by which RBAC knows the client
    "admin": "/O=system:masters/CN=kubernetes-admin",
    "scheduler": "/CN=system:kube-scheduler",
    "controller-manager": "/CN=system:kube-controller-manager",
}
_SERVER_NAMES = ("DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,"
                 "IP:127.0.0.1,IP:::1,IP:10.0.0.1")
_NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def _openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")


def self_signed(folder, name):
    """<name>.key and <name>.crt: a server's at 127.0.0.1 that nobody else signed, for a day."""
    _openssl("req", "-x509", *_NEW_KEY, "-days", "1", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt")


def _signed(pki, name, subject, extensions):
    config = pki / f"{name}.ext"
    config.write_text(extensions)
    _openssl("req", *_NEW_KEY, "-keyout", pki / f"{name}.key", "-subj", subject, "-out", pki / f"{name}.csr")
    _openssl("x509", "-req", "-in", pki / f"{name}.csr", "-CA", pki / "ca.crt", "-CAkey", pki / "ca.key",
             "-CAcreateserial", "-days", "30", "-extfile", config, "-out", pki / f"{name}.crt")


def write_certificates(pki: pathlib.Path):
    """Makes a CA, the server's certificate, one client certificate per CLIENTS entry, and the token signing key."""
    pki.mkdir(mode=0o700)
    _openssl("req", "-x509", *_NEW_KEY, "-keyout", pki / "ca.key", "-subj", "/CN=kubesched-test-ca", "-days", "30",
             "-out", pki / "ca.crt")
    _signed(pki, "apiserver", "/CN=kube-apiserver",
            f"extendedKeyUsage=serverAuth\nsubjectAltName={_SERVER_NAMES}\n")
    for name, subject in CLIENTS.items():
        _signed(pki, name, subject, "extendedKeyUsage=clientAuth\n")
    _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", pki / "sa.key")


_AUTHORITY = """[ca]
default_ca = own
[own]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = names
x509_extensions = client
unique_subject = no
[names]
commonName = supplied
[client]
extendedKeyUsage = clientAuth
"""


def write_client_certificate(pki: pathlib.Path, user: str, certificate: pathlib.Path, key: pathlib.Path, seconds: int):
    """Replaces a client's pair of files, one after the other, by a new key and a certificate of `user` that ends after so many seconds."""
    folder = pki / "issued"
    folder.mkdir(exist_ok=True)
    (folder / "index.txt").touch()
    config = folder / "authority"
    config.write_text(_AUTHORITY.format(folder=folder))
    new_key, new_certificate = folder / "new.key", folder / "new.crt"
    _openssl("req", *_NEW_KEY, "-keyout", new_key, "-subj", f"/CN={user}", "-out", folder / "new.csr")
    now = datetime.datetime.now(datetime.timezone.utc)
    begin, end = ((now + datetime.timedelta(seconds=at)).strftime("%Y%m%d%H%M%SZ") for at in (-60, seconds))
    _openssl("ca", "-batch", "-notext", "-config", config, "-cert", pki / "ca.crt", "-keyfile", pki / "ca.key", "-startdate", begin,
             "-enddate", end, "-in", folder / "new.csr", "-out", new_certificate)
    new_key.replace(key)
    new_certificate.replace(certificate)


def write_kubeconfigs(folder: pathlib.Path, server: str):
    """Writes <client>.kubeconfig for every client, with certificates and keys inline."""
    pki = folder / "pki"

    def inline(name):
        return base64.b64encode((pki / name).read_bytes()).decode()

    for name in CLIENTS:
        path = folder / f"{name}.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(f"""apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster:
    server: {server}
    certificate-authority-data: {inline("ca.crt")}
users:
- name: {name}
  user:
    client-certificate-data: {inline(f"{name}.crt")}
    client-key-data: {inline(f"{name}.key")}
contexts:
- name: test
  context:
    cluster: test
    user: {name}
""")
