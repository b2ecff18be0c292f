# The client of openapi-generator: lists, starts, follows and reads a failure.
import os
import time

import belay_client
from belay_client.exceptions import NotFoundException

configuration = belay_client.Configuration(
    host=os.environ["BELAY_URL"], access_token=os.environ["BELAY_TOKEN"]
)
sessions = belay_client.SessionsApi(belay_client.ApiClient(configuration))
before = len(sessions.sessions_list())
made = sessions.sessions_create(
    belay_client.CreateSession(
        task="Say hello", model=os.environ["BELAY_MODEL"], approvals="auto"
    )
)
assert len(sessions.sessions_list()) == before + 1
last, ended, deadline = 0, False, time.time() + 120
while not ended and time.time() < deadline:
    wait = min(20, max(0, deadline - time.time()))
    for event in sessions.sessions_events(made.id, after=last, wait=wait):
        assert event.seq == last + 1
        last = event.seq
        state = event.args.get("state") if event.action == "state" else None
        ended = ended or state in ("finished", "failed", "limited", "stopped")
assert ended and sessions.sessions_get(made.id).last_seq >= last
try:
    sessions.sessions_get("none")
    raise AssertionError("There is no such session.")
except NotFoundException as error:
    assert error.data.code == "not_found" and error.data.status == 404
