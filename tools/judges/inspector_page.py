#!/usr/bin/env python3
"""Renders the inspector's pages in headless Chromium, in a phone-sized and a wide window, light and dark. Fails if the browser prints
to its console, for example about a blocked style or script, or a resource from another host.

    tools/judges/inspector_page.py PATH/TO/legacy-receipts [FOLDER]

The pictures go to FOLDER (default: a temporary folder). Headless Chromium cannot send a form, so this program sends the forms and
serves the answers to Chromium unchanged, with their headers.
"""
import base64
import http.server
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE = 60


def look_up_port(log, server):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        with open(log, encoding="utf-8") as file:
            for line in file:
                event = json.loads(line) if line.endswith("\n") else {}
                if event.get("message") == "listening" and event.get("role") == "look-up":
                    return int(event["port"])
        time.sleep(0.1)
    sys.exit("The look-up listener did not start.")


def page(port, token, form=None):
    """The headers and the body of the page."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/", data=urllib.parse.urlencode(form).encode() if form else None,
        headers={"Authorization": "Basic " + base64.b64encode(f"judge:{token}".encode()).decode()})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        names = ["Content-Type", "Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"]
        return {name: answer.headers[name] for name in names}, answer.read()


def main():
    binary = os.path.abspath(sys.argv[1])
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as work:
        pictures = sys.argv[2] if len(sys.argv) > 2 else work
        os.makedirs(pictures, exist_ok=True)
        token = secrets.token_hex(32)
        with open(os.path.join(work, "token"), "w", encoding="ascii") as file:
            file.write(token)
        trust = ["--trust-root", "LegacyFixtures/trust/root.der"]
        store = f"sqlite:{work}/store.sqlite"
        # Some records of the fixtures are quarantined on purpose: status 1.
        status = subprocess.run([binary, "migrate", "LegacyFixtures/inputs/customers.ndjson", "--into", store, "--quiet"]
                                + trust, stdout=subprocess.DEVNULL, check=False, timeout=PATIENCE).returncode
        assert status in (0, 1), status
        with open(os.path.join(work, "log"), "w", encoding="utf-8") as log:
            server = subprocess.Popen(
                [binary, "serve", "--port", "0", "--store", store, "--set", "admin.enabled=false",
                 "--set", "look-up.enabled=true", "--set", "look-up.port=0", "--set", f"look-up.token-files={work}/token",
                 "--set", "trust.roots=LegacyFixtures/trust/root.der"], stderr=log)
        try:
            port = look_up_port(os.path.join(work, "log"), server)
            with open("LegacyFixtures/auto-renewable/receipt.b64", encoding="ascii") as file:
                receipt = file.read()
            pages = {
                "empty": page(port, token), "document": page(port, token, {"document": receipt}),
                "customer": page(port, token, {"id": "u-1001"}), "junk": page(port, token, {"document": "<b>{{x}}"}),
            }
        finally:
            server.terminate()
            server.wait(timeout=PATIENCE)
        assert b"Genuine" in pages["document"][1] and b"<svg" in pages["document"][1]
        assert b"Found by" in pages["customer"][1]

        class Again(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                found = pages.get(self.path.strip("/"))
                self.send_response(200 if found else 204)
                for name, value in (found[0] if found else {}).items():
                    self.send_header(name, value)
                self.end_headers()
                if found:
                    self.wfile.write(found[1])

            def log_message(self, *arguments):
                pass

        again = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Again)
        threading.Thread(target=again.serve_forever, daemon=True).start()
        for name in pages:
            for scheme, setting in (("light", 1), ("dark", 0)):
                for width, height in ((390, 844), (1280, 900)):
                    picture = os.path.join(pictures, f"{name}-{scheme}-{width}.png")
                    run = subprocess.run(
                        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                         "--hide-scrollbars", f"--user-data-dir={work}/profile",
                         f"--blink-settings=preferredColorScheme={setting}", f"--window-size={width},{height}",
                         f"--screenshot={picture}", f"http://127.0.0.1:{again.server_address[1]}/{name}"],
                        capture_output=True, text=True, timeout=120, check=False)
                    said = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
                    if said or not os.path.getsize(picture):
                        sys.exit(f"{name}, {scheme}, {width}: " + "\n".join(said or ["no picture"]))
        print("The inspector is rendered without console output in both schemes at both widths.")


main()
