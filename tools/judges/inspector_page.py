#!/usr/bin/env python3
"""Chooses and drops files on the inspector's page in headless Chromium, and checks that the page says that they are genuine, also
under another name than this machine's own. Uses the page by keyboard alone, without JavaScript, and checks that a screen reader has a
name for each control. Then renders the pages in a phone-sized and a wide window, light and dark. Fails if the
browser prints to its console, for example about a blocked style or script, or a resource from another host.

    tools/judges/inspector_page.py PATH/TO/legacy-receipts [FOLDER]

The pictures go to FOLDER (default: a temporary folder). For them, this program sends the forms and serves the answers to Chromium
unchanged, with their headers.
"""
import base64
import fcntl
import http.server
import json
import os
import re
import secrets
import select
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE = 60
# Another name of this machine. Under it, a page over HTTP is no secure context, as on another machine of the own network: the browser
# sends Origin with a form, and no Sec-Fetch-Site.
NAME = "inspector.example"


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


class Refused(Exception):
    """An error of Chromium, for example because a page is being replaced."""


class Browser:
    """A page of headless Chromium, driven over its pipe for the DevTools protocol: file descriptors 3 and 4, a zero byte after each
    message."""

    def __init__(self, profile):
        (to_read, self.to), (self.of, to_write) = os.pipe(), os.pipe()
        # High numbers: the descriptors 3 and 4 of the child may be the ones that a pipe got.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
        os.close(to_read)
        os.close(to_write)
        self.chromium = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "bash", "chromium", "--headless", "--no-sandbox",
             "--disable-gpu", "--no-proxy-server", f"--user-data-dir={profile}", "--remote-debugging-pipe",
             f"--host-resolver-rules=MAP {NAME} 127.0.0.1"],
            pass_fds=ends, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in ends:
            os.close(end)
        self.received, self.count, self.session, self.said = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "DOM", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.chromium.terminate()
        self.chromium.wait(timeout=PATIENCE)

    def message(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.received:
            if not select.select([self.of], [], [], max(0, end - time.monotonic()))[0]:
                sys.exit("Chromium does not answer.")
            piece = os.read(self.of, 1 << 16)
            if not piece:
                sys.exit("Chromium ended.")
            self.received += piece
        text, _, self.received = self.received.partition(b"\0")
        message = json.loads(text)
        if message.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.said.append(json.dumps(message["params"]))
        return message

    def call(self, method, **parameters):
        self.count += 1
        request = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        rest = json.dumps(request).encode() + b"\0"
        while rest:
            rest = rest[os.write(self.to, rest):]
        while True:
            message = self.message()
            if message.get("id") == self.count:
                if "error" in message:
                    raise Refused(f"{method}: {message['error']}")
                return message["result"]

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise Refused(f"{script[:100]}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, condition):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if self.value(condition):
                    return
            except Refused:
                pass
            time.sleep(0.05)
        sys.exit(f"This did not become true: {condition}")

    def await_load(self, action):
        """Waits for the page that replaces the present one."""
        self.value("window.isEarlier = true")
        action()
        self.wait('!window.isEarlier && document.readyState === "complete"')

    def choose(self, path):
        field = self.call("Runtime.evaluate", expression='document.getElementById("file")')["result"]["objectId"]
        self.call("DOM.setFileInputFiles", objectId=field, files=[path])

    def drop(self, path):
        with open(path, "rb") as file:
            content = json.dumps(base64.b64encode(file.read()).decode())
        self.value(
            f"""{{
                const transfer = new DataTransfer();
                transfer.items.add(new File([Uint8Array.from(atob({content}), (c) => c.charCodeAt(0))], "document"));
                document.getElementById("document").dispatchEvent(
                    new DragEvent("drop", {{dataTransfer: transfer, bubbles: true, cancelable: true}}));
            }}""")

    def verdicts(self, page, path, action):
        """What the page says about a file and the documents in it."""
        self.await_load(lambda: self.call("Page.navigate", url=page))
        action(path)
        self.wait('document.getElementById("document").value !== ""')
        self.await_load(lambda: self.value('document.querySelector("form button").click()'))
        return self.value('Array.from(document.querySelectorAll(".verdict"), (verdict) => verdict.textContent)')


    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      text=text if kind == "keyDown" else "")

    def enter(self):
        self.press("Enter", 13, "\r")

    def tab_to(self, condition):
        """Presses the tab key until the element with the focus fulfills a condition."""
        for _ in range(100):
            self.press("Tab", 9)
            if self.value(f"document.activeElement.{condition}"):
                return
        sys.exit(f"The tab key does not lead to: {condition}")

    def unnamed(self):
        """The roles of the controls, pictures and regions for which a screen reader has no name."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        roles = ("button", "textbox", "image", "img", "region", "table", "DisclosureTriangle")
        found = [node for node in nodes if not node.get("ignored") and node["role"]["value"] in roles]
        if not found:
            sys.exit("The page has no controls for a screen reader.")
        return [node["role"]["value"] for node in found if not node.get("name", {}).get("value")]


def files(binary, work):
    """Documents of a local App Store, whose roots are in roots.pem: the paths of files that an operator may have."""
    with open(os.path.join(work, "sandbox"), "w+", encoding="utf-8") as log:
        sandbox = subprocess.Popen(
            [binary, "sandbox", "--port", "0", "--products", "LegacyFixtures/products.yaml", "--root-out", f"{work}/roots.pem"],
            stdout=log, stderr=log)
        try:
            end = time.monotonic() + PATIENCE
            found = None
            while not found and time.monotonic() < end and sandbox.poll() is None:
                time.sleep(0.1)
                log.seek(0)
                found = re.search(r"listens at (http://[0-9.:]+[0-9])", log.read())
            if not found:
                sys.exit("The local App Store did not start.")

            def control(path, body=None):
                data = None if body is None else json.dumps(body).encode()
                with urllib.request.urlopen(f"{found[1]}/sandbox/v1/{path}", data, timeout=PATIENCE) as answer:
                    return json.load(answer)

            control("purchases", {"customer": "ada", "productId": "com.example.orchard.premium.monthly"})
            receipt = control("customers/ada/receipt")["receipt-data"]
            notification = control("notifications")["notifications"][0]["signedPayload"]
        finally:
            sandbox.terminate()
            sandbox.wait(timeout=PATIENCE)
    contents = {
        "receipt.der": base64.b64decode(receipt), "receipt.b64": receipt.encode(), "payload.jws": notification.encode(),
        "notification.json": json.dumps({"signedPayload": notification}).encode(),
        "request.json": json.dumps({"receipt-data": receipt, "password": "s3cret"}).encode(),
    }
    for name, content in contents.items():
        with open(os.path.join(work, name), "wb") as file:
            file.write(content)
    return [os.path.join(work, name) for name in contents]


def check_files(port, token, paths, work):
    browser = Browser(os.path.join(work, "profile"))
    try:
        for action in (browser.choose, browser.drop):
            for path in paths:
                verdicts = browser.verdicts(f"http://user:{token}@127.0.0.1:{port}/", path, action)
                if not verdicts or not verdicts[0].startswith("Genuine"):
                    sys.exit(f"{action.__name__} {os.path.basename(path)}: {verdicts}")
        verdicts = browser.verdicts(f"http://user:{token}@{NAME}:{port}/", paths[0], browser.choose)
        if not verdicts or not verdicts[0].startswith("Genuine"):
            sys.exit(f"under the name {NAME}: {verdicts}")
        if browser.said:
            sys.exit("\n".join(browser.said))
    finally:
        browser.close()
    print("Files that are chosen or dropped arrive as they are: receipts, JWS, notifications and requests, also over HTTP under a name.")


def check_keyboard(port, token, receipt, work):
    browser = Browser(os.path.join(work, "profile"))
    try:
        browser.call("Accessibility.enable")
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        url = f"http://user:{token}@127.0.0.1:{port}/"
        browser.await_load(lambda: browser.call("Page.navigate", url=url))
        if not browser.value('document.getElementById("files").hidden'):
            sys.exit("The page ran its script, so this is no check without JavaScript.")
        browser.tab_to('matches("#document")')
        browser.call("Input.insertText", text=receipt)
        browser.tab_to('matches("button")')
        browser.await_load(browser.enter)
        if not browser.value('document.querySelector(".verdict").textContent.startsWith("Genuine")'):
            sys.exit("The page does not say that the receipt is genuine.")
        unnamed = browser.unnamed()
        browser.tab_to('matches(".scroll")')
        browser.tab_to('matches("summary")')
        browser.enter()
        browser.wait('document.activeElement.parentElement.open')
        browser.await_load(lambda: browser.call("Page.navigate", url=url))
        browser.tab_to('matches("#id")')
        browser.call("Input.insertText", text="u-1001")
        browser.await_load(browser.enter)
        if not browser.value('document.body.textContent.includes("Found by")'):
            sys.exit("The page does not show the customer.")
        unnamed += browser.unnamed()
        if unnamed or browser.said:
            sys.exit("\n".join([f"without a name: {role}" for role in unnamed] + browser.said))
    finally:
        browser.close()
    print("The keyboard alone, without JavaScript, inspects a receipt and looks a customer up; a screen reader has a name for each control.")


def page(port, token, form=None):
    """The headers and the body of the page."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/", data=urllib.parse.urlencode(form).encode() if form else None,
        headers={"Authorization": "Basic " + base64.b64encode(f"user:{token}".encode()).decode()})
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
        paths = files(binary, work)
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
                 "--set", f"trust.roots=LegacyFixtures/trust/root.der,{work}/roots.pem",
                 "--set", f"trust.signed-data-roots={work}/roots.pem"], stderr=log)
        try:
            port = look_up_port(os.path.join(work, "log"), server)
            check_files(port, token, paths, work)
            with open("LegacyFixtures/auto-renewable/receipt.b64", encoding="ascii") as file:
                receipt = file.read()
            check_keyboard(port, token, receipt, work)
            pages = {
                "empty": page(port, token), "document": page(port, token, {"document": receipt}),
                "customer": page(port, token, {"id": "u-1001"}), "junk": page(port, token, {"document": "<b>{{x}}"}),
            }
        finally:
            server.terminate()
            server.wait(timeout=PATIENCE)
        assert b"Genuine" in pages["document"][1] and b"<svg" in pages["document"][1]
        assert b"Found by" in pages["customer"][1]
        assert b"The stored app receipt" in pages["customer"][1] and b"Every check" in pages["customer"][1]

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
