#!/usr/bin/env python3
"""A bridge between Keryx and Carrier, a small chat service. For another platform, change the functions above the line."""
import json, os, threading, time
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

CARRIER = os.environ["CARRIER_URL"]
KERYX = f"{os.environ['KERYX_URL']}/api/bridges/{os.environ['KERYX_CHANNEL']}"
TOKEN = os.environ["KERYX_TOKEN"]
PROGRAM = os.urandom(8).hex()  # tells Keryx that work fetched before this start is lost

def call(method, url, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"content-type": "application/json", **headers}, method=method)
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)

def updates(after):
    """What happened after a place in Carrier's log; Carrier forgets what lies before it."""
    return call("GET", f"{CARRIER}/updates?after={after}")

def do(work):
    """Does one piece of work on Carrier, and says honestly what became of it."""
    try:
        if work["do"] == "lookup":
            found = call("GET", f"{CARRIER}/messages?id={quote(work['id'])}")
            return {"outcome": "sent", "receipt": found[0]} if found else {"outcome": "absent"}
        message = {key: work[key] for key in ("id", "text", "receipt", "plain")}
        sent = call("POST", f"{CARRIER}/messages", {"chat": work["chat_id"], **message})
        return {"outcome": "sent", "receipt": sent["receipt"]}
    except HTTPError as error:  # Carrier answered: it certainly did not take the message
        if error.code == 429:
            return {"outcome": "retry", "after_ms": 1000 * int(error.headers["retry-after"]), "reason": "too many messages"}
        return {"outcome": "markup_refused"} if error.code == 422 else {"outcome": "refused", "reason": error.read().decode()}
    except URLError as error:  # nobody there, or the connection broke
        return {"outcome": "retry" if isinstance(error.reason, ConnectionRefusedError) else "unknown", "reason": str(error)}
    except (OSError, ValueError) as error:
        return {"outcome": "unknown", "reason": str(error)}

# ---------------------------------------------------------------- Keryx's side

def keryx(method, path, body=None):
    return call(method, KERYX + path, body, {"authorization": f"Bearer {TOKEN}"})

def bring(state={}):
    if "after" not in state:  # Keryx stores the place with each message
        state["after"] = int(keryx("GET", "")["cursor"] or 0)
    for update in updates(state["after"]):
        source = {"chat_id": update["chat"], "user_id": update["user"], "user_name": update["name"]}
        body = {"source": source, "message_id": update["id"], "text": update["text"], "cursor": str(update["offset"])}
        keryx("POST", "/edited" if update["kind"] == "edit" else "/messages", body)
        state["after"] = update["offset"]

def fetch():
    for work in keryx("GET", f"/work?wait=25&program={PROGRAM}")["work"]:
        if work["do"] != "typing":
            keryx("POST", "/settle", {"work": work["work"], **do(work)})

def forever(step):
    while True:
        try:
            step()
        except (OSError, ValueError) as error:  # one of the two is away: what was not taken comes again
            print(error, flush=True)
            time.sleep(0.2)

threading.Thread(target=forever, args=(bring,), daemon=True).start()
forever(fetch)
