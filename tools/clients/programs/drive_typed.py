# The client of openapi-python-client: lists, starts, follows and reads a failure.
import os
import time

from belay_client import AuthenticatedClient
from belay_client.api.sessions import sessions_create, sessions_events, sessions_get, sessions_list
from belay_client.models import CreateSession, CreateSessionApprovals, Problem

client = AuthenticatedClient(
    base_url=os.environ["BELAY_URL"], token=os.environ["BELAY_TOKEN"], timeout=60
)
before = len(sessions_list.sync(client=client))
wanted = CreateSession(
    task="Say hello", model=os.environ["BELAY_MODEL"], approvals=CreateSessionApprovals.AUTO
)
made = sessions_create.sync(client=client, body=wanted)
assert len(sessions_list.sync(client=client)) == before + 1
last, ended, deadline = 0, False, time.time() + 120
while not ended and time.time() < deadline:
    wait = min(20, max(0, deadline - time.time()))
    for event in sessions_events.sync(made.id, client=client, after=last, wait=wait):
        assert event.seq == last + 1
        last = event.seq
        state = event.args.to_dict().get("state") if event.action == "state" else None
        ended = ended or state in ("finished", "failed", "limited", "stopped")
assert ended and sessions_get.sync(made.id, client=client).last_seq >= last
failure = sessions_get.sync("none", client=client)
assert isinstance(failure, Problem) and failure.code == "not_found"
